/** Parses the allowed lateness of a value from a property. */
import { AppError, durationMs } from '#kernel'

/** Returns the milliseconds of a duration such as 30s or 0s; Infinity when absent. Throws `VALIDATION`. */
export function latenessOf(lateness: string | undefined): number {
  const ms = lateness === undefined ? Number.POSITIVE_INFINITY : durationMs(lateness)
  if (ms >= 0) return ms
  throw new AppError('VALIDATION', `"${lateness}" is below 0; use a duration such as 30s, or 0s for none`)
}
