/** One value of the message, or of a node, as two properties name it. */
import { ofData, ownValue } from '#kernel'
import type { PlugContext } from './plug.ts'

/**
 * Names of the values of the message that `parameterOf` asks for with these properties of a plug; undefined when they
 * are known only `later`, at the call.
 */
export function namesOfParameter(
  { node, parameter }: { readonly node?: string | undefined; readonly parameter?: string | undefined },
  later: ReadonlySet<string>,
): readonly string[] | undefined {
  if (parameter === undefined || later.has('node')) return undefined
  return isOfMessage(node) ? [...new Set([parameter, parameter.split('.')[0] ?? ''])] : []
}

/**
 * A value of the message (`node` absent, empty or GLOBAL), or of the raw data of a node, undefined when there is none, or none that rules
 * can use. A parameter with dots leads into objects, unless there is a field of exactly that name.
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

/** Whether a property that names a node means the message instead. */
export function isOfMessage(node: string | undefined): node is undefined | '' | 'GLOBAL' {
  return node === undefined || node === '' || node === 'GLOBAL'
}
