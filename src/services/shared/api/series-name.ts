/** Names of resources and metrics, as series take them. */
import { type Issues, isTooLongForId, MAX_ID_BYTES, shown } from '#kernel'

/** NUL, or half of a surrogate pair: no medium keeps it */
export const UNSTORABLE = /[\0\p{Surrogate}]/u

/** The name of a metric or resource. */
export function readName(value: unknown, path: string, what: string, issues: Issues): string | undefined {
  if (value === undefined || value === null) return issues.wrong(path, 'is missing', `name a ${what}`)
  const fits = typeof value === 'string' && value !== '' && !isTooLongForId(value)
  if (fits && !UNSTORABLE.test(value)) return value
  const text = `${shown(value)} is no name of a ${what}`
  return issues.wrong(path, text, `give a text of 1 to ${MAX_ID_BYTES} bytes of Unicode`)
}
