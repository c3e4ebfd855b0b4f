/** Attributes of resources and types as JSON, and their texts for searching. */
import type { Json } from '#kernel'

export type Attributes = Readonly<Record<string, Json>>

export function textFields<R>(names: readonly string[], textOf: (record: R, name: string) => string | undefined) {
  return Object.fromEntries(
    names.map((name) => [name, { type: 'text', of: (record: R) => textOf(record, name) } as const]),
  )
}

export function textAt(attributes: Attributes, name: string): string | undefined {
  const value = Object.hasOwn(attributes, name) ? attributes[name] : undefined
  return typeof value === 'string' ? value : undefined
}

/** Maximum bytes of an indexed text. */
const LONGEST_TEXT = 2_000

export function wordsOf(texts: readonly string[]): string {
  const text = texts.join('\n')
  if (text.length * 3 <= LONGEST_TEXT || Buffer.byteLength(text) <= LONGEST_TEXT) return text
  const cut = Buffer.from(text).subarray(0, LONGEST_TEXT).toString()
  // remove a last character that was cut in half
  return cut.replace(/\uFFFD$/, '')
}
