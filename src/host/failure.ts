/** Error bodies of the host. */
import type { Refusal } from '#services/shared'

export type ErrorBody = (refusal: Refusal) => object

/** `{ statusCode, error, code, details? }`: for services without a format of their own, and for unknown paths. */
export const plainErrorBody: ErrorBody = ({ statusCode, error, code, issues }) => ({
  statusCode,
  error,
  code,
  ...(issues.length > 0 && { details: issues }),
})
