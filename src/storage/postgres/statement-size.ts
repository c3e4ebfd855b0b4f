/** What fits into one statement: its parameters are texts, which neither this process nor the server takes at any length. */
import { AppError } from '#kernel'

export const MEBI = 1_024 * 1_024

/** Quoting may double it, UTF-8 treble it; both stay far below the bounds of either side. */
const MOST = 64 * MEBI

/** `size`: characters. `subject`: what was given, at the beginning of a sentence. `TOO_LARGE` when it is more than fits. */
export function checkStatementSize(size: number, subject: string): void {
  if (size <= MOST) return
  const shown = Math.ceil(size / MEBI)
  throw new AppError(
    'TOO_LARGE',
    `${subject} has ${shown} MiB of text; PostgreSQL takes at most ${MOST / MEBI} at once, so write it in parts`,
  )
}
