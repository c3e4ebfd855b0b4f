/** Reads a value of the message or of a node, selected by the properties `node` and `parameter`. */
import { ofData, ownValue } from '#kernel'
import type { PlugContext } from './plug.ts'

/**
 * Returns the names of message values that `parameterOf` reads with these properties; undefined when a property is only
 * known at the call (`later`).
 */
export function namesOfParameter(
  { node, parameter }: { readonly node?: string | undefined; readonly parameter?: string | undefined },
  later: ReadonlySet<string>,
): readonly string[] | undefined {
  if (parameter === undefined || later.has('node')) return undefined
  return isOfMessage(node) ? [...new Set([parameter, parameter.split('.')[0] ?? ''])] : []
}

/**
 * Reads a value of the message (`node` absent, empty or GLOBAL) or of a node's raw data; undefined when absent or of a
 * type that rules cannot use. A parameter with dots addresses nested objects, unless a field has exactly that name.
 */
export function parameterOf(
  context: Pick<PlugContext, 'streamValue' | 'lookup'>,
  node: string | undefined,
  parameter: string,
): unknown {
  const read = (key: string): unknown =>
    isOfMessage(node) ? context.streamValue(key) : context.lookup(['nodes', node, 'rawData', key])
  const whole = read(parameter)
  if (whole !== undefined) return ofData(whole)
  const [first = '', ...rest] = parameter.split('.')
  return ofData(rest.reduce<unknown>((value, key) => ownValue(value, key), read(first)))
}

/** Whether a `node` property refers to the message instead of a node. */
export function isOfMessage(node: string | undefined): node is undefined | '' | 'GLOBAL' {
  return node === undefined || node === '' || node === 'GLOBAL'
}
