/** A refused request, before a service gives it its own shape. */
import type { ErrorCode, Issue } from '#kernel'

export interface Refusal {
  /** HTTP status */
  readonly statusCode: number
  /** one text for people; never has a secret or a stack */
  readonly error: string
  readonly code: ErrorCode
  /** every problem of a request; empty when there is nothing to list */
  readonly issues: readonly Issue[]
}

/** `{ error, code, statusCode, details? }`, in which several services report errors: details as texts. */
export function errorBodyOfLines({ statusCode, error, code, issues }: Refusal): object {
  return { error, code, statusCode, ...(issues.length > 0 && { details: issues.map(issueLine) }) }
}

/** `<JSON pointer> <- <what is wrong> (<what would be right>)`, as clients know it from several services. */
export function issueLine({ path, message, suggestion }: Issue): string {
  return `${path === '' ? '/' : path} <- ${message}${suggestion === undefined ? '' : ` (${suggestion})`}`
}
