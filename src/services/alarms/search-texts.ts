/** Indexes additional properties for searching, as one text per name and value. */
import { createHash } from 'node:crypto'
import type { Json } from '#kernel'

/** Longer texts are indexed by their hash. */
const MAX_CHARACTERS = 400
export const MAX_SEARCHED = 500

/** Names within objects are joined by dots; each item of an array is a value. */
export function searchTexts(properties: Readonly<Record<string, Json>>): readonly string[] {
  const found: string[] = []
  gather('', properties, found)
  return found
}

export function searchText(name: string, value: string): string {
  const text = JSON.stringify([name, value])
  return text.length <= MAX_CHARACTERS ? text : createHash('sha256').update(text).digest('base64url')
}

function gather(path: string, value: Json, found: string[]): void {
  if (typeof value !== 'object' || value === null) {
    found.push(searchText(path, String(value)))
  } else if (Array.isArray(value)) {
    for (const item of value as readonly Json[]) gather(path, item, found)
  } else {
    for (const [name, inner] of Object.entries(value)) gather(path === '' ? name : `${path}.${name}`, inner, found)
  }
}
