/** The shape in which hosted models report errors: `error` is what clients read. */
import { issueLine, type Refusal } from '#services/shared'

export function modelsErrorBody({ statusCode, error, code, issues }: Refusal): object {
  return { error, code, statusCode, ...(issues.length > 0 && { details: issues.map(issueLine) }) }
}
