/** What a refused request is answered with. */
import type { Refusal } from '#services/shared'

/** The body of a failed request: an object that becomes JSON. */
export type ErrorBody = (refusal: Refusal) => object

/** `{ statusCode, error, code, details? }`: for services without a shape of their own, and for paths that nobody serves. */
export const plainErrorBody: ErrorBody = ({ statusCode, error, code, issues }) => ({
  statusCode,
  error,
  code,
  ...(issues.length > 0 && { details: issues }),
})
