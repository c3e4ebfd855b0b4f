/** The shape in which the converter service reports errors: what is wrong, where in the template, and what came out. */
import type { ErrorCode } from '#kernel'
import { issueLine, type Refusal } from '#services/shared'

export interface ConverterErrorBody {
  readonly statusCode: number
  readonly error: string
  readonly code: ErrorCode
  /** of the template, from 1 */
  readonly line?: number
  readonly column?: number
  /** lines of the template around the place */
  readonly around?: readonly string[]
  /** the rendered text when it cannot be used, else a line for each problem */
  readonly details?: string | readonly string[]
}

export function converterErrorBody({ statusCode, error, code, issues }: Refusal): ConverterErrorBody {
  const { line, column, around, rendered } = issues[0]?.details ?? {}
  const details = typeof rendered === 'string' ? rendered : issues.length > 0 ? issues.map(issueLine) : undefined
  return {
    statusCode,
    error,
    code,
    ...(typeof line === 'number' && typeof column === 'number' && { line, column }),
    ...(Array.isArray(around) && { around: around.map(String) }),
    ...(details !== undefined && { details }),
  }
}
