/** Durations in properties that must be longer than nothing. */
import { AppError, durationMs } from '#kernel'

/** Milliseconds of a duration that is longer than nothing, such as 5m or PT5M. Throws `VALIDATION`. */
export function lengthOf(duration: string): number {
  const ms = durationMs(duration)
  if (ms > 0) return ms
  throw new AppError('VALIDATION', `"${duration}" is not longer than nothing; write a duration such as 5m`)
}
