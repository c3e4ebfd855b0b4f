/** `{{key}}` in properties of a command, replaced by metadata of the resource. Pure and linear. */
import { FORBIDDEN_KEYS, isPlainObject, type Json, ownValue } from '#kernel'

const OPEN = '{{'
const CLOSE = '}}'
const MAX_DEPTH = 100

/**
 * The value with every placeholder in its texts replaced, at any depth. A text that is one placeholder and nothing else
 * becomes the value itself, be it a number or an object; within a text values become text, objects as JSON. Nested
 * metadata is reached with dots, unless a key with dots is there. What is not there is the empty text.
 */
export function fillMetadata(value: Json, metadata: Readonly<Record<string, Json>>, depth = 0): Json {
  if (typeof value === 'string') return fillText(value, metadata)
  if (depth >= MAX_DEPTH) return value
  if (Array.isArray(value)) return value.map((item: Json) => fillMetadata(item, metadata, depth + 1))
  if (!isPlainObject(value)) return value
  const filled = Object.entries(value).flatMap(([key, part]) =>
    FORBIDDEN_KEYS.has(key) ? [] : [[key, fillMetadata(part, metadata, depth + 1)] as const],
  )
  return Object.fromEntries(filled)
}

function fillText(text: string, metadata: Readonly<Record<string, Json>>): Json {
  const parts: Json[] = []
  let at = 0
  for (;;) {
    const open = text.indexOf(OPEN, at)
    const close = open < 0 ? -1 : text.indexOf(CLOSE, open + OPEN.length)
    if (close < 0) break
    if (open > at) parts.push(text.slice(at, open))
    parts.push(read(metadata, text.slice(open + OPEN.length, close).trim()))
    at = close + CLOSE.length
  }
  if (parts.length === 0) return text
  if (at < text.length) parts.push(text.slice(at))
  return parts.length === 1 ? (parts[0] ?? '') : parts.map(textOf).join('')
}

function read(metadata: Readonly<Record<string, Json>>, key: string): Json {
  const whole = ownValue(metadata, key)
  if (whole !== undefined) return (whole as Json) ?? ''
  let value: unknown = metadata
  for (const part of key.split('.')) value = FORBIDDEN_KEYS.has(part) ? undefined : ownValue(value, part)
  return (value as Json | undefined) ?? ''
}

function textOf(value: Json): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value ?? '')
}
