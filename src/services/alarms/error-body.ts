/** The shape in which the alarms service reports errors: `{ statusCode, error, code, details? }`, details as texts. */
import type { ErrorCode, Issue } from '../../kernel/errors.ts'

export interface AlarmsErrorBody {
  readonly statusCode: number
  readonly error: string
  readonly code: ErrorCode
  readonly details?: readonly string[]
}

/** `/path <- what is wrong` for each problem of a body. */
export function alarmsErrorBody(refusal: {
  readonly statusCode: number
  readonly error: string
  readonly code: ErrorCode
  readonly issues: readonly Issue[]
}): AlarmsErrorBody {
  const { statusCode, error, code, issues } = refusal
  const details = issues.map(({ path, message, suggestion }) => {
    return `${path === '' ? '/' : path} <- ${message}${suggestion === undefined ? '' : ` (${suggestion})`}`
  })
  return { statusCode, error, code, ...(details.length > 0 && { details }) }
}
