/** The shape in which webscripts report errors of the host: `{ error, code, statusCode }`. */
import { issueLine, type Refusal } from '#services/shared'

export function webscriptsErrorBody({ statusCode, error, code, issues }: Refusal): object {
  return { error, code, statusCode, ...(issues.length > 0 && { details: issues.map(issueLine) }) }
}
