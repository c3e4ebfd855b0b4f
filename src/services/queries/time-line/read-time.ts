/** Times and durations as queries write them. */
import { durationMs, isoInstant, type Issues, notAnInstant, shown } from '#kernel'
import { MAX_TIME } from '#services/shared'

const DURATION = /^\s*[+-]?P/i
const DIGITS = /^-?\d{1,16}$/
const TIME_FORMS =
  'write epoch milliseconds, ISO 8601 such as 2024-03-01T12:00:00Z, or a duration before now such as -P1D'
const DURATION_FORMS = 'write ISO 8601 such as PT1H or P7D'

/** Epoch ms. Undefined when there is none, or it is wrong: then the issues know. A duration is one before now, whatever its sign. */
export function readTime(value: unknown, path: string, now: number, issues: Issues): number | undefined {
  if (value === undefined || value === null) return undefined
  const time = timeOf(value, now)
  if (Number.isFinite(time) && Math.abs(time) <= MAX_TIME) return Math.trunc(time)
  return issues.wrong(path, `${shown(value)} ${notAnInstant(value)}`, TIME_FORMS)
}

function timeOf(value: unknown, now: number): number {
  if (typeof value === 'number') return value
  if (typeof value !== 'string') return Number.NaN
  if (DIGITS.test(value)) return Number(value)
  return DURATION.test(value) ? now - Math.abs(msOf(value)) : isoInstant(value)
}

/** Whole ms above 0. Undefined when there is none, or it is wrong: then the issues know. */
export function readDuration(value: unknown, path: string, issues: Issues): number | undefined {
  if (value === undefined || value === null) return undefined
  const ms = typeof value === 'string' ? Math.round(msOf(value)) : Number.NaN
  if (ms > 0 && ms <= MAX_TIME) return ms
  return issues.wrong(path, `${shown(value)} is no duration above 0`, DURATION_FORMS)
}

/** NaN for anything but a duration. */
function msOf(text: string): number {
  try {
    return durationMs(text)
  } catch {
    return Number.NaN
  }
}
