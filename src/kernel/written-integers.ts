/** Keeps integers beyond 2^53 as written, with JSON.rawJSON (Node 22); rules do not read them. */
import { isPlainObject, type Json } from './json.ts'
import { longIntegersOf, type LongInteger } from './long-integers.ts'

interface WrittenJson {
  readonly rawJSON?: (text: string) => object
  readonly isRawJSON?: (value: unknown) => boolean
}

// TypeScript's library types lack these functions
const { rawJSON, isRawJSON } = JSON as WrittenJson & typeof JSON

export const KEEPS_WRITTEN_INTEGERS = rawJSON !== undefined

export function isWrittenInteger(value: unknown): boolean {
  return isRawJSON !== undefined && typeof value === 'object' && value !== null && isRawJSON(value)
}

export function parseWritten(text: string): unknown {
  const value: unknown = JSON.parse(text)
  return withWritten(value, longIntegersOf(text))
}

export function withWritten(value: unknown, found: readonly LongInteger[]): unknown {
  if (rawJSON === undefined) return value
  let root = value
  for (const { steps, digits } of found) {
    const last = steps.at(-1)
    if (last === undefined) root = rawJSON(digits)
    else {
      const parent = steps.slice(0, -1).reduce(partOf, root)
      // of duplicate keys, only the last one is in the value
      if (partOf(parent, last) === Number(digits)) (parent as Record<string | number, unknown>)[last] = rawJSON(digits)
    }
  }
  return root
}

export function withoutWritten<Value extends Json>(value: Value): Value
export function withoutWritten(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (isWrittenInteger(value)) return null
  if (Array.isArray(value)) return value.map((one: Json) => withoutWritten(one))
  if (!isPlainObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withoutWritten(part as Json)]))
}

function partOf(value: unknown, step: string | number): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, step)
    ? (value as Readonly<Record<string | number, unknown>>)[step]
    : undefined
}
