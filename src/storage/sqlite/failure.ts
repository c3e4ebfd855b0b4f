/** How what went wrong crosses from a worker to the thread that asked: by code and text, since classes do not. */
import { AppError, messageOf, type ErrorCode, type Issue } from '../../kernel/errors.ts'

export interface Failure {
  readonly code: ErrorCode
  readonly message: string
  readonly issues: readonly Issue[]
}

export function failureOf(thrown: unknown): Failure {
  if (thrown instanceof AppError) return { code: thrown.code, message: thrown.message, issues: thrown.issues }
  return { code: 'STORE', message: `the store could not do it: ${messageOf(thrown)}`, issues: [] }
}

/** A job of which nothing was written. `isFull`: for want of room, so that the same may be written when there is some. */
export interface NotWritten {
  readonly failure: string
  readonly isFull: boolean
}

/** SQLite's code for a disk without room. */
const SQLITE_FULL = 13

export function notWritten(thrown: unknown): NotWritten {
  const isFull = thrown instanceof Error && 'errcode' in thrown && thrown.errcode === SQLITE_FULL
  return { failure: messageOf(thrown), isFull }
}

/** `UNAVAILABLE` while there is no room, which ends as an outage does; else `STORE`. */
export function writeError({ failure, isFull }: NotWritten): AppError {
  const text = `The store could not write it: ${failure}`
  return isFull ? new AppError('UNAVAILABLE', `${text}; make room`) : new AppError('STORE', text)
}

export function errorOf({ code, message, issues }: Failure): AppError {
  return new AppError(code, message, { issues })
}
