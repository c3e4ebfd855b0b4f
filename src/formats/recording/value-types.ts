/** Defines the types of columns and metrics: inferred from a CSV, declared in its header, or chosen by the reader. */
import { FORBIDDEN_KEYS } from '#kernel'

/** `json`: each cell is JSON, with texts in quotes, so that a column can mix kinds of values. */
export const VALUE_TYPES = ['number', 'text', 'boolean', 'json'] as const
export type ValueType = (typeof VALUE_TYPES)[number]

/** by metric */
export type ValueTypes = ReadonlyMap<string, ValueType>

export const TYPES_FORM = `use name=type separated by commas, such as serial=text,flow=number; types are ${VALUE_TYPES.join(', ')}`

function isValueType(text: string): text is ValueType {
  return VALUE_TYPES.some((type) => type === text)
}

export function readValueTypes(text: string): ValueTypes | { readonly problem: string } {
  const types = new Map<string, ValueType>()
  for (const part of text.split(',')) {
    const equals = part.lastIndexOf('=')
    const [name, type] = [part.slice(0, Math.max(0, equals)).trim(), part.slice(equals + 1).trim()]
    if (name === '' || !isValueType(type)) return { problem: `"${part.slice(0, 80)}" is not a valid metric type` }
    if (FORBIDDEN_KEYS.has(name)) return { problem: `"${name}" is not a valid metric name` }
    if (types.has(name)) return { problem: `${name} appears twice` }
    types.set(name, type)
  }
  return types
}

export function typedName(text: string): { readonly name: string; readonly type?: ValueType } {
  const colon = text.lastIndexOf(':')
  const type = text.slice(colon + 1)
  return colon > 0 && isValueType(type) ? { name: text.slice(0, colon), type } : { name: text }
}
