/** Attributes of resources and types: plain JSON by name. */
import type { Json } from '../../kernel/json.ts'

export type Attributes = Readonly<Record<string, Json>>

export function textAt(attributes: Attributes, name: string): string | undefined {
  const value = Object.hasOwn(attributes, name) ? attributes[name] : undefined
  return typeof value === 'string' ? value : undefined
}

/** Equal as JSON, whatever the order of keys. */
export function sameJson(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const [left, right] = [a as Attributes, b as Attributes]
  const keys = Object.keys(left)
  if (keys.length !== Object.keys(right).length) return false
  return keys.every((key) => Object.hasOwn(right, key) && sameJson(left[key], right[key]))
}
