/** Parses texts that are metadata as a whole: `META.$.<key>`. */
import { FORBIDDEN_KEYS } from '#kernel'
import { MAX_SEGMENTS, scanSegments, type Fault } from './path.ts'

const PREFIX = 'META.$.'

/** `['location', 'city']` for `META.$.location.city`; undefined for any other text. Keys may contain spaces. */
export function metaPath(text: string): readonly string[] | undefined {
  if (!text.startsWith(PREFIX)) return undefined
  const scanned = scanSegments(text, PREFIX.length)
  const exact = scanned.fault === undefined && scanned.end === text.length
  if (exact) return scanned.segments
  // a text with other placeholders is an ordinary text
  return text.includes('{') ? undefined : text.slice(PREFIX.length).split('.')
}

export function metaFault(text: string, segments: readonly string[]): Fault | undefined {
  if (segments.includes('')) {
    return { message: `"${text}" has an empty key`, suggestion: 'write META.$.<key>, with dots for nested keys' }
  }
  if (segments.length > MAX_SEGMENTS) {
    return { message: `"${text.slice(0, 60)}" has more than ${MAX_SEGMENTS} keys`, suggestion: 'use a shorter path' }
  }
  const reserved = segments.find((segment) => FORBIDDEN_KEYS.has(segment))
  if (reserved === undefined) return undefined
  return { message: `"${text}" uses the reserved name "${reserved}"`, suggestion: 'use a metadata key of the resource' }
}
