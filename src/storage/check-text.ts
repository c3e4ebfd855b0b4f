/** Checks that a text can be stored and compared in every medium: length, no NUL, no unpaired surrogates. */
import { kindOf, UNSTORABLE } from '#kernel'
import type { Problems } from './problems.ts'

const NAME = /^[a-z0-9_]{1,40}$/

export interface TextBounds {
  /** maximum number of bytes in UTF-8 */
  readonly max: number
  readonly empty?: boolean
}

/** `what`: such as `an id` or `a name`. */
export function checkText(
  value: unknown,
  path: string,
  what: string,
  bounds: TextBounds,
  problems: Problems,
): value is string {
  if (typeof value !== 'string') {
    problems.wrong(path, `${what} is a text, not ${kindOf(value)}`)
    return false
  }
  if (value === '' && bounds.empty !== true) {
    problems.wrong(path, `${what} is empty`, 'use at least one character')
    return false
  }
  if (UNSTORABLE.test(value)) {
    problems.wrong(path, `${what} has a NUL or half of a surrogate pair: ${JSON.stringify(value.slice(0, 80))}`)
    return false
  }
  if (isLongerThan(value, bounds.max)) {
    problems.tooLarge(path, `${what} has ${Buffer.byteLength(value)} bytes`, `use at most ${bounds.max}`)
    return false
  }
  return true
}

/** True when a text could be a stored id. For reads, where an invalid id is simply absent. */
export function isStorable(value: unknown, max: number): value is string {
  return typeof value === 'string' && value !== '' && !UNSTORABLE.test(value) && !isLongerThan(value, max)
}

export function checkName(value: unknown, path: string, what: string, problems: Problems): value is string {
  if (typeof value === 'string' && NAME.test(value)) return true
  const shown = typeof value === 'string' ? JSON.stringify(value.slice(0, 80)) : kindOf(value)
  problems.wrong(path, `${shown} is not a valid name of ${what}`, 'use 1 to 40 lower-case letters, digits and _')
  return false
}

/** Checks an integer within limits: above `max` it is `TOO_LARGE`, otherwise `VALIDATION`. */
export function checkWhole(
  value: unknown,
  path: string,
  bounds: { readonly min: number; readonly max: number },
  problems: Problems,
): value is number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= bounds.min) {
    if (value <= bounds.max) return true
    problems.tooLarge(path, `${value} is above the limit`, `at most ${bounds.max}`)
    return false
  }
  const shown = typeof value === 'number' ? String(value) : kindOf(value)
  problems.wrong(path, `${shown} is not possible here`, `use a whole number from ${bounds.min} to ${bounds.max}`)
  return false
}

function isLongerThan(text: string, bytes: number): boolean {
  // UTF-8 takes at most three bytes per UTF-16 unit
  return text.length * 3 > bytes && Buffer.byteLength(text) > bytes
}
