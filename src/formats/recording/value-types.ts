/** What values of a column or metric are: found in a CSV, named by its header, or by whoever reads it. */
import { FORBIDDEN_KEYS } from '#kernel'

/** `json`: each cell is JSON, with texts in quotes, so that a column can hold values of several kinds. */
export const VALUE_TYPES = ['number', 'text', 'boolean', 'json'] as const
export type ValueType = (typeof VALUE_TYPES)[number]

/** By the name of the metric. */
export type ValueTypes = ReadonlyMap<string, ValueType>

export const TYPES_FORM = `write name=type with commas between, such as serial=text,flow=number; types are ${VALUE_TYPES.join(', ')}`

function isValueType(text: string): text is ValueType {
  return VALUE_TYPES.some((type) => type === text)
}

/** Reads `serial=text,flow=number`; or what is wrong with it. */
export function readValueTypes(text: string): ValueTypes | { readonly problem: string } {
  const types = new Map<string, ValueType>()
  for (const part of text.split(',')) {
    const equals = part.lastIndexOf('=')
    const [name, type] = [part.slice(0, Math.max(0, equals)).trim(), part.slice(equals + 1).trim()]
    if (name === '' || !isValueType(type)) return { problem: `"${part.slice(0, 80)}" is not a type of a metric` }
    if (FORBIDDEN_KEYS.has(name)) return { problem: `a metric cannot be named "${name}"` }
    if (types.has(name)) return { problem: `${name} is named twice` }
    types.set(name, type)
  }
  return types
}

/** A name of a header: `flow:number` names a metric and its type, anything else is the whole name. */
export function typedName(text: string): { readonly name: string; readonly type?: ValueType } {
  const colon = text.lastIndexOf(':')
  const type = text.slice(colon + 1)
  return colon > 0 && isValueType(type) ? { name: text.slice(0, colon), type } : { name: text }
}
