/** What a refused request is answered with. */
import type { ErrorCode, Issue } from '../kernel/errors.ts'

/** What a request is refused with, before a service gives it its own shape. */
export interface Failure {
  /** HTTP status */
  readonly statusCode: number
  /** one text for people; never has a secret or a stack */
  readonly error: string
  readonly code: ErrorCode
  /** every problem of a request; empty when there is nothing to list */
  readonly issues: readonly Issue[]
}

/** The body of a failed request: an object that becomes JSON. */
export type ErrorBody = (failure: Failure) => object

/** `{ statusCode, error, code, details? }`: for services without a shape of their own, and for paths that nobody serves. */
export const plainErrorBody: ErrorBody = ({ statusCode, error, code, issues }) => ({
  statusCode,
  error,
  code,
  ...(issues.length > 0 && { details: issues }),
})
