/** The shape in which the query service reports errors: `{ error, messages, code, details? }`. */
import type { ErrorCode, Json } from '#kernel'
import { issueLine, type Refusal } from '#services/shared'

export interface QueriesErrorBody {
  readonly error: string
  /** one for each problem, as in results */
  readonly messages: readonly Readonly<Record<string, Json>>[]
  readonly code: ErrorCode
  /** each `<JSON pointer> <- <what is wrong>` */
  readonly details?: readonly string[]
}

export function queriesErrorBody({ error, code, issues }: Refusal): QueriesErrorBody {
  const messages = issues.map((issue) => ({ message: issueLine(issue), level: 'error', code: issue.type }))
  return { error, messages, code, ...(issues.length > 0 && { details: issues.map(issueLine) }) }
}
