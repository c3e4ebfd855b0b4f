/**
 * What a rule reads in a value: the one place that says what is known, what is a number, and how values compare. Every
 * language, every plug and every entrance asks here.
 *
 * KNOWN-1 Unknown is what is absent, null, NaN or infinite; where a number is asked, an empty or blank text too. To
 *   compare, to calculate or to decide with it is an error, never 0 and never false.
 * KNOWN-2 A number of data beyond 2^53 may stand for another one, since JSON readers round it: it is unknown for rules.
 * KNOWN-3 A text is a number only as a plain decimal: a sign, digits without leading zeros, a point and digits, at most 15
 *   significant digits, nothing around it. Two texts are texts. Booleans are numbers only where a plug counts them.
 * KNOWN-4 Values of different kinds are not equal, which is no error; a text and a number are equal when the text is that
 *   number.
 * KNOWN-5 A difference or a sum equals a limit when it is off by at most 1e-12 of the largest operand.
 */

/** A plain decimal. */
export const DECIMAL = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/
export const MAX_DIGITS = 15
/** Longer texts are no numbers, characters: their first digit would come too far behind the point. */
export const MAX_DECIMAL = 40
const TOLERANCE = 1e-12

/** Whether a number of data is the one that was written: finite, and less than 2^53 in magnitude. */
export function isExact(value: number): boolean {
  return Math.abs(value) <= Number.MAX_SAFE_INTEGER
}

/** A value of data as rules have it: undefined for a number that is not exact. Lists and objects as they are. */
export function ofData(value: unknown): unknown {
  return typeof value !== 'number' || isExact(value) || !Number.isFinite(value) ? value : undefined
}

/** Whether a value is there: not absent, null, NaN or infinite. An empty text is known, as long as no number is asked. */
export function isKnown(value: unknown): boolean {
  return typeof value === 'number' ? Number.isFinite(value) : value !== undefined && value !== null
}

/** The number that a plain decimal says, such as 21.5 for "21.50"; undefined for any other text or value. */
export function numberOfText(text: unknown): number | undefined {
  if (typeof text !== 'string' || text.length > MAX_DECIMAL || !DECIMAL.test(text)) return undefined
  if (text.length <= MAX_DIGITS) return Number(text)
  const digits = text.replace(/^-?[0.]*/, '').replace('.', '')
  return digits.length <= MAX_DIGITS ? Number(text) : undefined
}

/** The finite number that a value is, or says as a plain decimal; undefined when it is none. */
export function numberIn(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  return numberOfText(value)
}

/** The same where true and false count as 1 and 0. */
export function countIn(value: unknown): number | undefined {
  return typeof value === 'boolean' ? Number(value) : numberIn(value)
}

/** Equality of two known values: of one kind, or of a number and a text that is that number. */
export function isEqual(a: unknown, b: unknown): boolean {
  if (typeof a === 'number' && typeof b === 'string') return numberOfText(b) === a
  if (typeof a === 'string' && typeof b === 'number') return numberOfText(a) === b
  return a === b
}

/** How two values are ordered: as numbers, as texts, not without number() around both, or not at all: by which side. */
export type Ordered =
  | { readonly by: 'number'; readonly a: number; readonly b: number }
  | { readonly by: 'text'; readonly a: string; readonly b: string }
  | { readonly by: 'decimals' }
  | { readonly by: 'nothing'; readonly side: 'left' | 'right' }

const LEFT: Ordered = { by: 'nothing', side: 'left' }
const RIGHT: Ordered = { by: 'nothing', side: 'right' }
const DECIMALS: Ordered = { by: 'decimals' }

/** How `a` and `b` compare by size. */
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

/** Why a value is of no use where a number is asked: goes on after its name. */
export function whyNoNumber(value: unknown): string {
  if (typeof value === 'string') {
    if (value.trim() === '') return 'is an empty text, so nothing can be said'
    return `is the text ${JSON.stringify(value.slice(0, 40))}, which is not a plain decimal such as 21.5`
  }
  if (typeof value === 'boolean') return `is ${value}, which is not a number`
  if (typeof value === 'object' && value !== null) return `is ${Array.isArray(value) ? 'a list' : 'an object'}`
  return whyUnknown(value)
}

/** Why a value that is unknown decides nothing: goes on after its name. */
export function whyUnknown(value: unknown): string {
  if (value === undefined) return 'has no value, so nothing can be said'
  const shown = value === null || typeof value === 'number' ? String(value) : JSON.stringify(value)
  return `is ${shown}, so nothing can be said`
}

/** By how much a sum or a difference of numbers up to `largest` in magnitude may be off. */
export function slackOf(largest: number): number {
  return TOLERANCE * Math.abs(largest)
}
