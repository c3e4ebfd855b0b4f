import type { Plug } from './plug.ts'

/** Whether a call of the plug with these resolved properties changes something outside. */
export function actsWith({ acts }: Plug, properties: Readonly<Record<string, unknown>>): boolean {
  return typeof acts === 'function' ? acts(properties) : acts
}
