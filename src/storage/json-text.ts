/** Serializes JSON of limited size for a medium; the content was checked where it entered the host. */
import { JsonText, kindOf, messageOf } from '#kernel'
import { MAX_JSON_BYTES } from './limits.ts'
import type { Problems } from './problems.ts'

/** Undefined when the value has no JSON form. */
export function jsonText(value: unknown, path: string, problems: Problems): string | undefined {
  let text: string | undefined
  try {
    text = value instanceof JsonText ? value.text : JSON.stringify(value)
  } catch (error) {
    problems.wrong(path, `is not JSON: ${messageOf(error)}`, 'use plain JSON')
    return undefined
  }
  if (text === undefined) {
    problems.wrong(path, `${kindOf(value)} is not JSON`, 'use plain JSON')
    return undefined
  }
  // UTF-8 takes at most three bytes per UTF-16 unit
  const bytes = text.length * 3 > MAX_JSON_BYTES ? Buffer.byteLength(text) : 0
  if (bytes <= MAX_JSON_BYTES) return text
  problems.tooLarge(path, `has ${bytes} bytes as JSON`, `at most ${MAX_JSON_BYTES} are kept`)
  return undefined
}
