/** Decides whether a call has outside effects, and which things it touches. */
import type { Plug, TouchContext } from './plug.ts'
import { finishProperties } from './properties.ts'

export function actsWith({ acts }: Plug, properties: Readonly<Record<string, unknown>>): boolean {
  return typeof acts === 'function' ? acts(properties) : acts
}

/**
 * Returns the things that a call with these resolved properties touches: empty when the properties are invalid;
 * undefined when the plug does not say, so that the node itself counts.
 */
export function touchesWith(
  plug: Plug,
  rendered: Readonly<Record<string, unknown>>,
  context: TouchContext,
): readonly string[] | undefined {
  if (plug.touches === undefined) return undefined
  const { properties } = finishProperties(plug, rendered)
  return properties === undefined ? [] : plug.touches(properties, context)
}
