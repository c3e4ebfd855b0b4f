/** Reads the time of a recorded message. */
import { AppError, isInstant, isoInstant } from '#kernel'
import type { Message } from '../task/origin.ts'

/** Reads a `timestamp`: a number is epoch ms, text is UTC if it has no offset. Throws `BAD_RECORDING`. */
export function instantOf(message: Message, place: number | string): number {
  const { timestamp } = message
  const time = typeof timestamp === 'string' ? isoInstant(timestamp) : (timestamp ?? Number.NaN)
  if (isInstant(time)) return time
  const where = typeof place === 'number' ? `message ${place}` : place
  const what = timestamp === undefined ? 'lacks a timestamp' : `has the timestamp ${JSON.stringify(timestamp)}`
  throw new AppError(
    'BAD_RECORDING',
    `${where} ${what}; use epoch milliseconds or an ISO 8601 time such as 2026-01-31T12:00:00Z`,
  )
}
