/** The shape in which object storage reports errors: `{ error, code, statusCode, detail? }`. */
import type { Refusal } from '#services/shared'

export function objectsErrorBody({ statusCode, error, code, issues }: Refusal): object {
  const detail = issues.map(({ path, message, type }) => ({ loc: path.split('/').slice(1), msg: message, type }))
  return { error, code, statusCode: statusOf(statusCode), ...(detail.length > 0 && { detail }) }
}

/** Clients know what cannot be read as 422. */
export function statusOf(statusCode: number): number {
  return statusCode === 400 ? 422 : statusCode
}
