/** An error response before a service formats it. */
import type { ErrorCode, Issue } from '#kernel'

export interface Refusal {
  readonly statusCode: number
  readonly error: string
  readonly code: ErrorCode
  readonly issues: readonly Issue[]
}

/** Formats an error as `{ error, code, statusCode, details? }`, as several services do, with details as texts. */
export function errorBodyOfLines({ statusCode, error, code, issues }: Refusal): object {
  return { error, code, statusCode, ...(issues.length > 0 && { details: issues.map(issueLine) }) }
}

/** Formats an issue as `<JSON pointer> <- <what is wrong> (<what would be right>)`, which clients know. */
export function issueLine({ path, message, suggestion }: Issue): string {
  return `${path === '' ? '/' : path} <- ${message}${suggestion === undefined ? '' : ` (${suggestion})`}`
}
