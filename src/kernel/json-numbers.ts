/**
 * JSON encoding of NaN and infinities, which sensors may send: `{"$number":"NaN"}`. An object of that form is itself
 * encoded as `{"$number":{...}}`, so that decoding always restores the input.
 */
import { isPlainObject } from './json.ts'

const KEY = '$number'
const DEFINED = { enumerable: true, configurable: true, writable: true }

export function encodeNumbers(value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) return { [KEY]: String(value) }
  const copy = copyOf(value, encodeNumbers)
  return isMarked(copy) ? { [KEY]: copy } : copy
}

export function decodeNumbers(value: unknown): unknown {
  if (!isMarked(value)) return copyOf(value, decodeNumbers)
  const marked = value[KEY]
  return typeof marked === 'string' ? Number(marked) : copyOf(marked, decodeNumbers)
}

function isMarked(value: unknown): value is Record<typeof KEY, unknown> {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, KEY)) return false
  return isPlainObject(value) && Object.keys(value).length === 1
}

function copyOf(value: unknown, inner: (value: unknown) => unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((item) => inner(item))
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    const item = (value as Readonly<Record<string, unknown>>)[key]
    if (item === undefined) continue
    // Assigning would let a message with the key __proto__ set a prototype.
    if (key === '__proto__') Object.defineProperty(copy, key, { ...DEFINED, value: inner(item) })
    else copy[key] = inner(item)
  }
  return copy
}
