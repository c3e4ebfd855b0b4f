/** How late a value may come, as a property says it. */
import { AppError, durationMs } from '#kernel'

/** Milliseconds that a value may come late, such as those of 30s or 0s; Infinity when none is given. Throws `VALIDATION`. */
export function latenessOf(lateness: string | undefined): number {
  const ms = lateness === undefined ? Number.POSITIVE_INFINITY : durationMs(lateness)
  if (ms >= 0) return ms
  throw new AppError('VALIDATION', `"${lateness}" is below 0; write a duration such as 30s, or 0s for none`)
}
