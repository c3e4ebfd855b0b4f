/** Finds the message values that a plug's properties read, so that the plug runs on messages that contain them. */
import type { BindingUse } from '../placeholders/binding.ts'
import type { Plug } from '../../plug/plug.ts'
import { codeUses } from './code-uses.ts'
import { messageNames } from './message-names.ts'

const NONE: ReadonlySet<string> = new Set()
const NODE = { root: 'nodes', optional: true, pointer: '' } as const

/** Only these reads determine when a plug runs; placeholders in other properties do not. */
export function codedUses(plug: Plug, properties: Readonly<Record<string, unknown>>): readonly BindingUse[] {
  const coded = Object.entries(plug.input).flatMap(([name, { format }]) => {
    return format?.type === 'logic' || format?.type === 'code' ? codeUses(properties[name]) : []
  })
  const declared = plug.nodes?.(properties) ?? []
  return [...coded, ...declared.map((label) => ({ text: label, ...NODE, segments: [label] }))]
}

/** undefined if unknown. `later`: properties that are known only at the call. */
export function namesRead(
  plug: Plug,
  properties: Readonly<Record<string, unknown>>,
  later: ReadonlySet<string> = NONE,
): readonly string[] | undefined {
  const { parameters } = plug
  const declared = typeof parameters === 'function' ? parameters(properties, later) : parameters
  if (declared === undefined) return undefined
  return [...new Set([...declared, ...messageNames(codedUses(plug, properties))])]
}
