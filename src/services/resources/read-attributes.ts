/** Attributes as they come from outside: plain JSON, no key that reaches a prototype, bounded in depth and size. */
import { AppError, at, FORBIDDEN_KEYS, isPlainObject, Issues, type Json, refuse } from '#kernel'
import type { Attributes } from './attributes.ts'
import { problem } from './error-texts.ts'

/** lists and objects inside one another; what is stored around them takes a few levels more */
const MAX_LEVELS = 90
/** characters of the JSON of one resource or type: its history and events hold it more than once */
const LARGEST = 262_144
const MAX_PROBLEMS = 100

/** A copy. Throws `VALIDATION` with all problems, `TOO_LARGE`. */
export function readAttributes(body: unknown, subject: string): Attributes {
  if (!isPlainObject(body))
    throw refuse(subject, [problem('/', 'is not a JSON object', 'send an object of attributes')])
  const issues = new Issues('ATTRIBUTE')
  const copy = copyOf(body, '', 0, issues)
  issues.throwIfAny(subject)
  return copy as Attributes
}

/** Throws `TOO_LARGE`. */
export function checkSize(attributes: Attributes, subject: string): void {
  const { length } = JSON.stringify(attributes)
  if (length <= LARGEST) return
  throw new AppError('TOO_LARGE', `${subject} has ${length} characters as JSON, at most ${LARGEST} are kept`)
}

function copyOf(value: unknown, path: string, level: number, issues: Issues): Json {
  if (issues.count >= MAX_PROBLEMS) return null
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (typeof value !== 'object') {
    issues.wrong(path, `${typeof value === 'number' ? String(value) : typeof value} is no JSON`)
    return null
  }
  if (level >= MAX_LEVELS) {
    issues.wrong(path.slice(0, 200), `nests deeper than ${MAX_LEVELS} levels`, 'send something flatter')
    return null
  }
  if (Array.isArray(value)) return value.map((each: unknown, i) => copyOf(each, `${path}/${i}`, level + 1, issues))
  if (!isPlainObject(value)) {
    issues.wrong(path, 'is no plain JSON object')
    return null
  }
  const copy: Record<string, Json> = {}
  for (const [key, part] of Object.entries(value)) {
    if (part === undefined) continue
    const place = at(path, key)
    if (FORBIDDEN_KEYS.has(key)) issues.wrong(place, `the key "${key}" is not allowed`, 'give it another name')
    else copy[key] = copyOf(part, place, level + 1, issues)
  }
  return copy
}
