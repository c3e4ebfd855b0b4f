/** Provides the endless messages of a benchmark; time advances with each pass. */
import { AppError } from '#kernel'
import type { Message } from '#core'

/** maximum number of objects per pass, including copies */
const MOST = 1_000_000
/** ms between messages of a recording with a single instant */
const STEP_MS = 1000

export class Feed {
  readonly messages: readonly Message[]
  readonly #times: Float64Array
  readonly #span: number

  /** `recorded`: messages with `timestamp` in epoch ms. `resource`: each copy gets its messages under a new name. */
  constructor(recorded: readonly Message[], resource: string | undefined, copies: number) {
    const most = Math.max(1, Math.floor(MOST / copies))
    const used = recorded.slice(0, most)
    const messages: Message[] = []
    const times: number[] = []
    for (const { timestamp, ...message } of used) {
      const isCopied = message.resource === resource
      for (let copy = 0; copy < (isCopied ? copies : 1); copy++) {
        // makes all messages one object shape, as a parser does
        messages.push({ ...message, resource: isCopied ? copyName(message.resource, copy) : message.resource })
        times.push(Number(timestamp))
      }
    }
    if (messages.length === 0) throw new AppError('USAGE', 'the messages are empty; use at least one')
    this.messages = messages
    this.#times = Float64Array.from(times)
    const first = times.reduce((least, time) => Math.min(least, time), Number.POSITIVE_INFINITY)
    const last = times.reduce((most_, time) => Math.max(most_, time), Number.NEGATIVE_INFINITY)
    this.#span = last > first ? last - first + (last - first) / Math.max(1, used.length - 1) : STEP_MS * used.length
  }

  get length(): number {
    return this.messages.length
  }

  /** epoch ms of the first message */
  get begin(): number {
    return this.#times[0] as number
  }

  cursor(): Cursor {
    return new Cursor(this.messages, this.#times, this.#span)
  }
}

export class Cursor {
  readonly #messages: readonly Message[]
  readonly #times: Float64Array
  readonly #span: number
  #place = 0
  #passed = 0

  constructor(messages: readonly Message[], times: Float64Array, span: number) {
    this.#messages = messages
    this.#times = times
    this.#span = span
  }

  get message(): Message {
    return this.#messages[this.#place] as Message
  }

  get time(): number {
    return (this.#times[this.#place] as number) + this.#passed
  }

  next(): void {
    if (++this.#place < this.#messages.length) return
    this.#place = 0
    this.#passed += this.#span
  }
}

export function copyName(resource: string, copy: number): string {
  return copy === 0 ? resource : `${resource}~${copy + 1}`
}
