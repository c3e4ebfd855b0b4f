/** Whether a call changes something outside, and what it touches. */
import type { Plug, TouchContext } from './plug.ts'
import { finishProperties } from './properties.ts'

/** Whether a call of the plug with these resolved properties changes something outside. */
export function actsWith({ acts }: Plug, properties: Readonly<Record<string, unknown>>): boolean {
  return typeof acts === 'function' ? acts(properties) : acts
}

/**
 * What a call of the plug with these resolved properties touches: nothing when they cannot be used; undefined when the
 * plug does not say, so that it is the node itself.
 */
export function touchesWith(
  plug: Plug,
  given: Readonly<Record<string, unknown>>,
  context: TouchContext,
): readonly string[] | undefined {
  if (plug.touches === undefined) return undefined
  const { properties } = finishProperties(plug, given)
  return properties === undefined ? [] : plug.touches(properties, context)
}
