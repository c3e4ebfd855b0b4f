/** Error answer, before a service formats it. */
import type { ErrorCode, Issue } from '#kernel'

export interface Refusal {
  readonly statusCode: number
  readonly error: string
  readonly code: ErrorCode
  readonly issues: readonly Issue[]
}

/** Error format `{ error, code, statusCode, details? }` of several services, with details as texts. */
export function errorBodyOfLines({ statusCode, error, code, issues }: Refusal): object {
  return { error, code, statusCode, ...(issues.length > 0 && { details: issues.map(issueLine) }) }
}

/** `<JSON pointer> <- <what is wrong> (<what would be right>)`, a format that clients know. */
export function issueLine({ path, message, suggestion }: Issue): string {
  return `${path === '' ? '/' : path} <- ${message}${suggestion === undefined ? '' : ` (${suggestion})`}`
}
