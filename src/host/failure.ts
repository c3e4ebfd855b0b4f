/** Defines the error bodies of the host. */
import type { Refusal } from '#services/shared'

export type ErrorBody = (refusal: Refusal) => object

/** Builds `{ statusCode, error, code, details? }`, for unknown paths and for services without an error format. */
export const plainErrorBody: ErrorBody = ({ statusCode, error, code, issues }) => ({
  statusCode,
  error,
  code,
  ...(issues.length > 0 && { details: issues }),
})
