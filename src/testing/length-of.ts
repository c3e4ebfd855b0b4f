/** Parses durations in options. */
import { AppError, durationMs } from '#kernel'

/**
 * Returns the ms of a number, or of a text such as `PT1H` or `1h`. `what`: the option's name for errors. Throws
 * `VALIDATION` for a negative duration.
 */
export function lengthOf(length: number | string, what: string): number {
  const ms = typeof length === 'number' ? length : durationMs(length)
  if (ms >= 0) return ms
  throw new AppError('VALIDATION', `${what} is ${String(length)}; use a duration such as 1h`)
}

/** Same, but also rejects 0. */
export function spanOf(length: number | string, what: string): number {
  const ms = lengthOf(length, what)
  if (ms > 0) return ms
  throw new AppError('VALIDATION', `${what} is ${String(length)}; use a duration above 0, such as 1h`)
}
