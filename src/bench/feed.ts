/** The messages of a bench, again and again: each copy of the rule has its own, and time goes on from pass to pass. */
import { AppError } from '#kernel'
import type { Message } from '#core'

/** objects of one pass, copies included */
const MOST = 1_000_000
/** ms between messages of a recording that has one instant */
const STEP_MS = 1000

export class Feed {
  readonly messages: readonly Message[]
  readonly #times: Float64Array
  /** ms of a pass */
  readonly #span: number

  /** `recorded`: each with `timestamp`, epoch ms. `resource`: whose messages every copy gets under a name of its own. */
  constructor(recorded: readonly Message[], resource: string | undefined, copies: number) {
    const most = Math.max(1, Math.floor(MOST / copies))
    const used = recorded.slice(0, most)
    const messages: Message[] = []
    const times: number[] = []
    for (const { timestamp, ...message } of used) {
      const isCopied = message.resource === resource
      for (let copy = 0; copy < (isCopied ? copies : 1); copy++) {
        // Of one kind from the first to the last, as they come from a parser.
        messages.push({ ...message, resource: isCopied ? copyName(message.resource, copy) : message.resource })
        times.push(Number(timestamp))
      }
    }
    if (messages.length === 0) throw new AppError('USAGE', 'there is no message to measure with')
    this.messages = messages
    this.#times = Float64Array.from(times)
    const first = times.reduce((least, time) => Math.min(least, time), Number.POSITIVE_INFINITY)
    const last = times.reduce((most_, time) => Math.max(most_, time), Number.NEGATIVE_INFINITY)
    this.#span = last > first ? last - first + (last - first) / Math.max(1, used.length - 1) : STEP_MS * used.length
  }

  get length(): number {
    return this.messages.length
  }

  /** epoch ms of the first message of all */
  get begin(): number {
    return this.#times[0] as number
  }

  /** From the first message on. */
  cursor(): Cursor {
    return new Cursor(this.messages, this.#times, this.#span)
  }
}

/** Where one is in a feed, which has no end. */
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

  /** epoch ms */
  get time(): number {
    return (this.#times[this.#place] as number) + this.#passed
  }

  next(): void {
    if (++this.#place < this.#messages.length) return
    this.#place = 0
    this.#passed += this.#span
  }
}

/** The first copy keeps its name. */
export function copyName(resource: string, copy: number): string {
  return copy === 0 ? resource : `${resource}~${copy + 1}`
}
