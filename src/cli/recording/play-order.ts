/** Determines in which order, and at which times, the messages of a recording are played. */
import { AppError, isInstant, isoInstant } from '#kernel'
import type { RecordedMessage } from '#formats/recording'

/** `file`: a message that goes back in time is played at the highest time so far; `lived`: by arrival */
export type PlayOrder = 'time' | 'file' | 'lived'

const ORDERS: readonly PlayOrder[] = ['time', 'file', 'lived']

export const ORDER_HELP =
  'order of messages: by timestamp (time), as in the recording (file), or by arrival, receivedAt (lived)'

export const ARRIVAL_FIELD = 'receivedAt'

export function playOrderOf(text: string): PlayOrder {
  const order = ORDERS.find((one) => one === text)
  if (order !== undefined) return order
  throw new AppError('USAGE', `"${text}" is not a valid order; write time, file or lived`)
}

/** Epoch ms; undefined if the message lacks the field for its order. */
export function playTime(message: RecordedMessage, order: PlayOrder): number | undefined {
  if (order !== 'lived') return message.timestamp
  const value = message[ARRIVAL_FIELD]
  const time = typeof value === 'string' ? isoInstant(value) : value
  return typeof time === 'number' && isInstant(time) ? time : undefined
}

export class Arrivals {
  readonly #times = new WeakMap<object, number>()

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
