/** Decides whether a failed HTTP call is worth a retry. */

/** Request Timeout, Too Early, Too Many Requests */
const TEMPORARY: ReadonlySet<number> = new Set([408, 425, 429])

/** Whether a retry would lead to the same status: true from 400 to 499, except for 408, 425 and 429. */
export function isFinalStatus(status: number): boolean {
  return status >= 400 && status < 500 && !TEMPORARY.has(status)
}
