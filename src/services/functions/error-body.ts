/** The shape in which the registry reports errors: `{ error, code, statusCode, data? }`. */
import { issueLine, type Refusal } from '#services/shared'

export interface FunctionsErrorBody {
  readonly error: string
  readonly code: string
  readonly statusCode: number
  /** every problem, as a text */
  readonly data?: readonly string[]
}

export function functionsErrorBody({ statusCode, error, code, issues }: Refusal): FunctionsErrorBody {
  return { error, code, statusCode, ...(issues.length > 0 && { data: issues.map(issueLine) }) }
}
