/** Limits the size of a statement, whose parameters are texts that both process and server must hold. */
import { AppError } from '#kernel'

export const MEBI = 1_024 * 1_024

/** Most characters. Quoting may double the size and UTF-8 triple it, which stays far below the limits of both sides. */
const MOST = 64 * MEBI

/** `subject`: names the input at the beginning of the message. */
export function checkStatementSize(size: number, subject: string): void {
  if (size <= MOST) return
  const shown = Math.ceil(size / MEBI)
  throw new AppError(
    'TOO_LARGE',
    `${subject} has ${shown} MiB of text; PostgreSQL accepts at most ${MOST / MEBI} at once, so write it in parts`,
  )
}
