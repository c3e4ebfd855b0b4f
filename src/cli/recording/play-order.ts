/** In which order the messages of a recording are played, and when each comes. */
import { AppError, isInstant, isoInstant } from '#kernel'
import type { RecordedMessage } from '#formats/recording'

/**
 * `time`: of their timestamps; `file`: of the lines, where one that goes back in time comes at the highest time so far;
 * `lived`: of when each came, as the recording says.
 */
export type PlayOrder = 'time' | 'file' | 'lived'

const ORDERS: readonly PlayOrder[] = ['time', 'file', 'lived']

/** What `--order` says. */
export const ORDER_HELP =
  'messages as of their times (time), in the order of the recording (file), or as they came, by receivedAt (lived)'

/** Under which name a recording has when a message came. */
export const ARRIVAL_FIELD = 'receivedAt'

/** Throws `USAGE`. */
export function playOrderOf(text: string): PlayOrder {
  const order = ORDERS.find((one) => one === text)
  if (order !== undefined) return order
  throw new AppError('USAGE', `"${text}" is not an order; write time, file or lived`)
}

/** When a message of a recording counts, epoch ms; undefined for one of an order that it says nothing for. */
export function playTime(message: RecordedMessage, order: PlayOrder): number | undefined {
  if (order !== 'lived') return message.timestamp
  const given = message[ARRIVAL_FIELD]
  const time = typeof given === 'string' ? isoInstant(given) : given
  return typeof time === 'number' && isInstant(time) ? time : undefined
}

/** Messages that came with when they did: the message itself does not say so any more. */
export class Arrivals {
  readonly #times = new WeakMap<object, number>()

  /** A message as it came. */
  without(message: RecordedMessage): RecordedMessage {
    const { [ARRIVAL_FIELD]: _, ...rest } = message
    const came: RecordedMessage = { ...rest, resource: message.resource, timestamp: message.timestamp }
    this.#times.set(came, playTime(message, 'lived') ?? message.timestamp)
    return came
  }

  of(message: object): number | undefined {
    return this.#times.get(message)
  }
}
