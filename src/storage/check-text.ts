/** Text that every medium can store and compare: without NUL (PostgreSQL) and unpaired surrogates (UTF-8), bounded. */
import { kindOf, UNSTORABLE } from '#kernel'
import type { Problems } from './problems.ts'

const NAME = /^[a-z0-9_]{1,40}$/

export interface TextBounds {
  /** bytes in UTF-8 */
  readonly max: number
  readonly empty?: boolean
}

/** Returns whether `value` is valid; reports to `problems` otherwise. `what`: `an id`, `a name` ... */
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
    problems.wrong(path, `${what} is empty`, 'give at least one character')
    return false
  }
  if (UNSTORABLE.test(value)) {
    problems.wrong(path, `${what} has a NUL or half of a surrogate pair: ${JSON.stringify(value.slice(0, 80))}`)
    return false
  }
  if (isLongerThan(value, bounds.max)) {
    problems.tooLarge(path, `${what} has ${Buffer.byteLength(value)} bytes`, `at most ${bounds.max} are kept`)
    return false
  }
  return true
}

/** Whether a text could be an id; for reads, where an invalid id is just absent. */
export function isStorable(value: unknown, max: number): value is string {
  return typeof value === 'string' && value !== '' && !UNSTORABLE.test(value) && !isLongerThan(value, max)
}

/** A name of a collection or log, which becomes part of the name of a table. */
export function checkName(value: unknown, path: string, what: string, problems: Problems): value is string {
  if (typeof value === 'string' && NAME.test(value)) return true
  const shown = typeof value === 'string' ? JSON.stringify(value.slice(0, 80)) : kindOf(value)
  problems.wrong(path, `${shown} is not a valid name of ${what}`, 'use 1 to 40 lower-case letters, digits and _')
  return false
}

/** A whole number within bounds; above `max` it is too large, anything else is invalid. */
export function checkWhole(
  value: unknown,
  path: string,
  bounds: { readonly min: number; readonly max: number },
  problems: Problems,
): value is number {
  if (typeof value === 'number' && Number.isInteger(value) && value >= bounds.min) {
    if (value <= bounds.max) return true
    problems.tooLarge(path, `${value} is above the bound`, `at most ${bounds.max}`)
    return false
  }
  const shown = typeof value === 'number' ? String(value) : kindOf(value)
  problems.wrong(path, `${shown} is not possible here`, `give a whole number from ${bounds.min} to ${bounds.max}`)
  return false
}

function isLongerThan(text: string, bytes: number): boolean {
  // UTF-8 takes at most three bytes a unit
  return text.length * 3 > bytes && Buffer.byteLength(text) > bytes
}
