/**
 * Resumes a stream at another host or after a restart: later messages from the log first, then live messages.
 *
 * RESUME-1 each stored message after the last seen one is sent once, in the order of the log; if some are no longer in
 *   the log, `missed` is set
 */
import type { FeedReader, LogPosition, Passed } from '#kernel'
import { messagesOfEntry } from '#log'
import type { Log } from '#storage'
import type { BrokerMessage, Channel, StreamedMessage } from '../contract.ts'

export interface ResumedFrom {
  readonly log: Log
  readonly since: LogPosition
  readonly channel: Channel
  /** undefined: all resources */
  readonly resource: string | undefined
}

/** maximum log entries to read for one reader; a longer backlog is a gap */
const MAX_BACKLOG = 50_000
const PAGE = 500

export class ResumedReader implements FeedReader<BrokerMessage> {
  readonly ready: Promise<void>
  readonly #live: FeedReader<BrokerMessage>
  readonly #from: ResumedFrom
  readonly #backlog: AsyncGenerator<StreamedMessage, undefined>
  #isOver = false
  #missed = false
  /** position of the last entry to read from the log; later messages come from the live stream */
  #upTo = 0

  /** `live` must be subscribed beforehand, so that no message falls between log and stream. */
  constructor(live: FeedReader<BrokerMessage>, from: ResumedFrom) {
    this.#live = live
    this.#from = from
    this.ready = this.#begin()
    // the first read reports the failure
    this.ready.catch(() => undefined)
    this.#backlog = this.#read()
  }

  get missed(): boolean {
    return this.#missed
  }

  get passed(): Passed | undefined {
    return this.#isOver || this.#missed ? this.#live.passed : undefined
  }

  takeDropped(): number {
    return this.#live.takeDropped()
  }

  async next(): Promise<IteratorResult<StreamedMessage, undefined>> {
    if (!this.#isOver) {
      const old = await this.#backlog.next()
      if (old.done !== true) return old
      this.#isOver = true
    }
    for (;;) {
      const published = await this.#live.next()
      // already sent from the log
      if (published.done !== true && (published.value.place?.position ?? Number.POSITIVE_INFINITY) <= this.#upTo)
        continue
      return published
    }
  }

  async return(): Promise<IteratorResult<StreamedMessage, undefined>> {
    this.#isOver = true
    await this.#live.return?.()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async #begin(): Promise<void> {
    const { log, since } = this.#from
    const { first, last } = await log.bounds()
    // the place before the next entry equals the place after the last entry
    const newest = since.count === 0 ? last + 1 : last
    this.#missed = since.position < first || since.position > newest || last - since.position > MAX_BACKLOG
    this.#upTo = this.#missed ? 0 : last
  }

  async *#read(): AsyncGenerator<StreamedMessage, undefined> {
    await this.ready
    const { log, since, channel, resource } = this.#from
    /** number of messages of the entry that the reader has seen */
    let seen = since.count
    for (let after = since.position - 1; after < this.#upTo;) {
      const entries = await log.read(after, Math.min(PAGE, this.#upTo - after))
      // trimmed in the meantime
      if (entries.length === 0) return
      for (const { position, body } of entries) {
        after = position
        let index = 0
        for (const one of messagesOfEntry(body)) {
          index += 1
          if (seen > 0) seen -= 1
          else if (one.channel === channel && (resource === undefined || one.resource === resource)) {
            const value = { resource: one.resource, ...(one.message as BrokerMessage) }
            yield { number: 0, topic: one.resource, value, place: { ...since, position, count: index } }
          }
        }
      }
    }
    return undefined
  }
}
