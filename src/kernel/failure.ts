/** Converts errors to plain data for transfer between threads, since class instances cannot be transferred. */
import { AppError, messageOf, type ErrorCode, type Issue } from './errors.ts'

export interface Failure {
  readonly code?: ErrorCode
  readonly message: string
  readonly issues: readonly Issue[]
}

export function failureOf(thrown: unknown): Failure {
  if (thrown instanceof AppError) return { code: thrown.code, message: thrown.message, issues: thrown.issues }
  return { message: messageOf(thrown), issues: [] }
}

export function errorOf(failure: Failure & { readonly code: ErrorCode }): AppError
export function errorOf(failure: Failure): Error
export function errorOf({ code, message, issues }: Failure): Error {
  return code === undefined ? new Error(message) : new AppError(code, message, { issues })
}
