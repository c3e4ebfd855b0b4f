/** Limits of a statement: parameters are texts, whose length process and server bound. */
import { AppError } from '#kernel'

export const MEBI = 1_024 * 1_024

/** Quoting may double it, and UTF-8 triple it; both stay far below the bounds of either side. */
const MOST = 64 * MEBI

/** `size`: characters. `subject`: the input, at the beginning of a sentence. Throws `TOO_LARGE`. */
export function checkStatementSize(size: number, subject: string): void {
  if (size <= MOST) return
  const shown = Math.ceil(size / MEBI)
  throw new AppError(
    'TOO_LARGE',
    `${subject} has ${shown} MiB of text; PostgreSQL takes at most ${MOST / MEBI} at once, so write it in parts`,
  )
}
