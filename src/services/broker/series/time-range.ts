/** Which time a query is about. */
import { isoInstant, type Issues, notAnInstant, shown } from '#kernel'
import { MAX_TIME } from '#services/shared'
import { lengthMs, LENGTH_FORMS } from './grouping.ts'

/** Epoch ms, both ends included. */
export interface ResolvedRange {
  readonly from: number
  readonly until: number
}

/** What a range is made of, as it came: each is absent when undefined or null. */
export interface GivenRange {
  readonly from?: unknown
  readonly until?: unknown
  /** only where a body may have it */
  readonly window?: unknown
}

/** ms that a range is long when nothing says so */
const DEFAULT_LENGTH = 7 * 86_400_000
const TIME_FORMS = 'write epoch milliseconds, ISO 8601 such as 2024-03-01T12:00:00Z, or an age such as -2d'

/** Undefined when something is wrong; then the issues know what. */
export function resolveRange(parts: GivenRange, now: number, issues: Issues, place = ''): ResolvedRange | undefined {
  const from = readTimeOrAge(parts.from, `${place}/from`, now, issues)
  const until = readTimeOrAge(parts.until, `${place}/until`, now, issues)
  const window = readLength(parts.window, `${place}/window`, issues)
  if (Number.isNaN(from) || Number.isNaN(until) || Number.isNaN(window)) return undefined
  if (from !== undefined && until !== undefined && window !== undefined) {
    return issues.wrong(`${place}/window`, 'from, until and window cannot be combined', 'leave out one of the three')
  }
  const range = rangeOf(from, until, window, now)
  if (range.from <= range.until) return range
  const end = until === undefined ? 'now' : 'until'
  return issues.wrong(
    `${place}/from`,
    `${range.from} is after ${end}, which is ${range.until}`,
    'give a time before it',
  )
}

function rangeOf(
  from: number | undefined,
  until: number | undefined,
  window: number | undefined,
  now: number,
): ResolvedRange {
  if (from !== undefined && until === undefined && window !== undefined) {
    return { from, until: Math.min(from + window, MAX_TIME) }
  }
  const end = until ?? now
  return { from: from ?? Math.max(end - (window ?? DEFAULT_LENGTH), -MAX_TIME), until: end }
}

const AGE_SIGN = /^-/

/** Epoch ms; undefined when there is none, NaN when it is none of the forms. */
function readTime(value: unknown, path: string, issues: Issues): number | undefined {
  if (value === undefined || value === null) return undefined
  const time = timeOf(value)
  if (Number.isInteger(time) && Math.abs(time) <= MAX_TIME) return time
  issues.wrong(path, `${shown(value)} ${notAnInstant(value)}`, TIME_FORMS)
  return Number.NaN
}

/** As `readTime`, and also an age such as `-2d`, or `2d`: so long before `now`. */
export function readTimeOrAge(value: unknown, path: string, now: number, issues: Issues): number | undefined {
  const age = typeof value === 'string' ? lengthMs(value.replace(AGE_SIGN, '')) : undefined
  return age === undefined ? readTime(value, path, issues) : Math.max(now - age, -MAX_TIME)
}

function timeOf(value: unknown): number {
  if (typeof value === 'number') return value
  if (typeof value !== 'string') return Number.NaN
  return /^-?\d{1,16}$/.test(value) ? Number(value) : isoInstant(value)
}

function readLength(value: unknown, path: string, issues: Issues): number | undefined {
  if (value === undefined || value === null) return undefined
  const length = typeof value === 'string' ? lengthMs(value) : undefined
  if (length !== undefined) return length
  issues.wrong(path, `${shown(value)} is no length of time`, `write ${LENGTH_FORMS}`)
  return Number.NaN
}
