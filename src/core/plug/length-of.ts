/** Parses positive durations in properties. */
import { AppError, durationMs } from '#kernel'

/** Returns the milliseconds of a duration above 0, such as 5m or PT5M. Throws `VALIDATION`. */
export function lengthOf(duration: string): number {
  const ms = durationMs(duration)
  if (ms > 0) return ms
  throw new AppError('VALIDATION', `"${duration}" is not above 0; use a duration such as 5m`)
}
