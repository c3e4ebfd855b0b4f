/** Fits a plug to a node: some plugs have states that depend on the properties of the node. */
import type { Plug } from './plug.ts'

/** Returns the plug itself, or a copy with the states of the node. */
export function plugOfNode(plug: Plug, properties: Readonly<Record<string, unknown>> = {}): Plug {
  const states = plug.statesOf?.(properties)
  return states === undefined ? plug : Object.freeze({ ...plug, states: Object.freeze([...states]) })
}
