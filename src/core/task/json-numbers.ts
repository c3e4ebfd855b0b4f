/** JSON has no NaN and no infinities, but sensors do. They travel as `{"$number":"NaN"}`. */
import { isPlainObject } from '../../kernel/json.ts'

const KEY = '$number'

/** A deep copy in which every number is one that JSON knows. Absent and `undefined` are the same. */
export function encodeNumbers(value: unknown): unknown {
  return walk(value, (leaf) => (typeof leaf === 'number' && !Number.isFinite(leaf) ? { [KEY]: String(leaf) } : leaf))
}

/** The inverse of encodeNumbers. */
export function decodeNumbers(value: unknown): unknown {
  if (isPlainObject(value) && typeof value[KEY] === 'string' && Object.keys(value).length === 1)
    return Number(value[KEY])
  return walk(value, (leaf) => leaf, decodeNumbers)
}

function walk(
  value: unknown,
  leaf: (value: unknown) => unknown,
  inner: (value: unknown) => unknown = (one) => walk(one, leaf),
): unknown {
  if (Array.isArray(value)) return value.map((item) => inner(item))
  if (typeof value !== 'object' || value === null) return leaf(value)
  const copy: Record<string, unknown> = {}
  for (const [key, item] of Object.entries(value)) if (item !== undefined) copy[key] = inner(item)
  return copy
}
