/** The shape in which the vault reports errors: `{ error, code, statusCode, details? }`. */
import { issueLine, type Refusal } from '#services/shared'

export function vaultErrorBody({ statusCode, error, code, issues }: Refusal): object {
  return { error, code, statusCode, ...(issues.length > 0 && { details: issues.map(issueLine) }) }
}
