/** The shape in which the alarms service reports errors: `{ statusCode, error, code, details? }`, details as texts. */
import type { ErrorCode } from '#kernel'
import { issueLine, type Refusal } from '#services/shared'

export interface AlarmsErrorBody {
  readonly statusCode: number
  readonly error: string
  readonly code: ErrorCode
  readonly details?: readonly string[]
}

export function alarmsErrorBody({ statusCode, error, code, issues }: Refusal): AlarmsErrorBody {
  return { statusCode, error, code, ...(issues.length > 0 && { details: issues.map(issueLine) }) }
}
