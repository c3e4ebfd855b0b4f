/** Reads the time of a recorded message. */
import { AppError, isInstant, isoInstant } from '#kernel'
import type { Message } from '../task/origin.ts'

/**
 * Returns a message's `timestamp` as epoch ms: a number is epoch ms, text is ISO 8601, in UTC if it has no offset.
 * `source`: number of the message, or name of the option, for the error. Throws `BAD_RECORDING`.
 */
export function instantOf(message: Message, source: number | string): number {
  const { timestamp } = message
  const time = typeof timestamp === 'string' ? isoInstant(timestamp) : (timestamp ?? Number.NaN)
  if (isInstant(time)) return time
  const where = typeof source === 'number' ? `message ${source}` : source
  const what = timestamp === undefined ? 'lacks a timestamp' : `has the timestamp ${JSON.stringify(timestamp)}`
  throw new AppError(
    'BAD_RECORDING',
    `${where} ${what}; use epoch milliseconds or an ISO 8601 time such as 2026-01-31T12:00:00Z`,
  )
}
