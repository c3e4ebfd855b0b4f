/**
 * Values as rules see them: known or unknown, numeric or not, and how they compare. Every language, plug and entry
 * point uses these functions.
 *
 * KNOWN-1 Unknown is what is absent, null, NaN or infinite; where a number is required, an empty or blank text too.
 *   Comparing, calculating or deciding with it is an error, never 0 and never false.
 * KNOWN-2 A number of data beyond 2^53 may stand for another one, since JSON readers round it: it is unknown for rules.
 * KNOWN-3 A text is a number only as a plain decimal: a sign, digits without leading zeros, a point and digits, at most
 *   15 significant digits, nothing around it. Two texts are texts. Booleans are numbers only where a plug counts them.
 * KNOWN-4 Values of different kinds are not equal, which is not an error; a text and a number are equal when the text
 *   is that number.
 * KNOWN-5 A difference or a sum equals a limit when it is off by at most 1e-12 of the largest operand.
 */

export const DECIMAL = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/
export const MAX_DIGITS = 15
/** Longest number, in characters: beyond it the first significant digit lies too far behind the point. */
export const MAX_DECIMAL = 40
const TOLERANCE = 1e-12

export function isExact(value: number): boolean {
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER
}

/** Converts outside data to the value that rules see: undefined for an inexact number; anything else unchanged. */
export function ofData(value: unknown): unknown {
  return typeof value !== 'number' || isExact(value) || !Number.isFinite(value) ? value : undefined
}

/** True unless the value is absent, null, NaN or infinite. An empty text counts as known. */
export function isKnown(value: unknown): boolean {
  return typeof value === 'number' ? Number.isFinite(value) : value !== undefined && value !== null
}

export function numberOfText(text: unknown): number | undefined {
  if (typeof text !== 'string' || text.length > MAX_DECIMAL || !DECIMAL.test(text)) return undefined
  if (text.length <= MAX_DIGITS) return Number(text)
  const digits = text.replace(/^-?[0.]*/, '').replace('.', '')
  return digits.length <= MAX_DIGITS ? Number(text) : undefined
}

/** Returns a finite number as is, parses a plain decimal, and returns undefined for anything else. */
export function numberIn(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  return numberOfText(value)
}

/** Like `numberIn`, but reads booleans as 1 and 0. */
export function countIn(value: unknown): number | undefined {
  return typeof value === 'boolean' ? Number(value) : numberIn(value)
}

export function isEqual(a: unknown, b: unknown): boolean {
  if (typeof a === 'number' && typeof b === 'string') return numberOfText(b) === a
  if (typeof a === 'string' && typeof b === 'number') return numberOfText(a) === b
  return a === b
}

/** Ambiguous: two plain decimals; impossible: because of one value. */
export type Ordered =
  | { readonly by: 'number'; readonly a: number; readonly b: number }
  | { readonly by: 'text'; readonly a: string; readonly b: string }
  | { readonly by: 'decimals' }
  | { readonly by: 'nothing'; readonly side: 'left' | 'right' }

const LEFT: Ordered = { by: 'nothing', side: 'left' }
const RIGHT: Ordered = { by: 'nothing', side: 'right' }
const DECIMALS: Ordered = { by: 'decimals' }

export function ordered(a: unknown, b: unknown): Ordered {
  if (typeof a === 'string' && typeof b === 'string') {
    return numberOfText(a) !== undefined && numberOfText(b) !== undefined ? DECIMALS : { by: 'text', a, b }
  }
  if (isKnown(a) && !isKnown(b)) return RIGHT
  const first = numberIn(a)
  if (first === undefined) return LEFT
  const second = numberIn(b)
  return second === undefined ? RIGHT : { by: 'number', a: first, b: second }
}

export function whyNoNumber(value: unknown): string {
  if (typeof value === 'string') {
    if (value.trim() === '') return 'is an empty text, so the result is unknown'
    return `is the text ${JSON.stringify(value.slice(0, 40))}, which is not a plain decimal such as 21.5`
  }
  if (typeof value === 'boolean') return `is ${value}, which is not a number`
  if (typeof value === 'object' && value !== null) return `is ${Array.isArray(value) ? 'a list' : 'an object'}`
  return whyUnknown(value)
}

export function whyUnknown(value: unknown): string {
  if (value === undefined) return 'has no value, so the result is unknown'
  const shown = value === null || typeof value === 'number' ? String(value) : JSON.stringify(value)
  return `is ${shown}, so the result is unknown`
}

export function slackOf(largest: number): number {
  return TOLERANCE * Math.abs(largest)
}
