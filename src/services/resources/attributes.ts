/** Attributes of resources and types: plain JSON by name, and what is searched of them. */
import type { Json } from '#kernel'

export type Attributes = Readonly<Record<string, Json>>

/** Fields of a collection for texts of these names. */
export function textFields<R>(names: readonly string[], textOf: (record: R, name: string) => string | undefined) {
  return Object.fromEntries(
    names.map((name) => [name, { type: 'text', of: (record: R) => textOf(record, name) } as const]),
  )
}

export function textAt(attributes: Attributes, name: string): string | undefined {
  const value = Object.hasOwn(attributes, name) ? attributes[name] : undefined
  return typeof value === 'string' ? value : undefined
}

/** bytes of a text that storage keeps for searching */
const LONGEST_TEXT = 2_000

/** What `filter` looks into: texts below one another, as far as storage keeps them. */
export function wordsOf(texts: readonly string[]): string {
  const text = texts.join('\n')
  if (text.length * 3 <= LONGEST_TEXT || Buffer.byteLength(text) <= LONGEST_TEXT) return text
  const cut = Buffer.from(text).subarray(0, LONGEST_TEXT).toString()
  // the last character may have lost its end
  return cut.replace(/\uFFFD$/, '')
}
