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

export function errorOf({ code, message, issues }: Failure): AppError {
  return new AppError(code, message, { issues })
}
