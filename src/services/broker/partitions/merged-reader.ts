/**
 * One stream of messages of several partitions: messages of each in order, across partitions as they arrive. It ends
 * when one of them ends, because that partition has moved; the reader reconnects with its place in each of them.
 *
 * MERGED-1 after `ready`, each message of a partition arrives, or the stream ends, or the message is counted as dropped
 * MERGED-2 a reader that resumes receives each stored message of all partitions after its place once, or is notified of
 *   a gap
 */
import { AppError, type FeedReader, type LogPlace, messageOf, type Passed } from '#kernel'
import type { BrokerMessage, FollowedPart, StreamedMessage } from '../contract.ts'

type Next = IteratorResult<StreamedMessage, undefined>

export interface MergedSources {
  /** of each partition, until the signal aborts; the first part confirms the subscription */
  readonly parts: readonly ((signal: AbortSignal) => AsyncIterable<FollowedPart>)[]
  /** the reader resumes, but its place in one of the partitions is unknown */
  readonly isGap: boolean
}

/** messages that may wait; beyond them partitions wait, and drop messages */
const MAX_WAITING = 256

export class MergedReader implements FeedReader<BrokerMessage> {
  readonly ready: Promise<void>
  /** place of the reader in each part; undefined: unknown */
  readonly #places: (LogPlace | undefined)[]
  #missed: boolean
  readonly #ending = new AbortController()
  readonly #waiting: StreamedMessage[] = []
  #asked: ((next: Next) => void) | undefined
  /** partitions that wait for room */
  #full: (() => void)[] = []
  #dropped = 0

  constructor({ parts, isGap }: MergedSources) {
    this.#missed = isGap
    this.#places = parts.map(() => undefined)
    this.ready = this.#begin(parts)
    // the first read finds the end
    this.ready.catch(() => undefined)
  }

  get missed(): boolean {
    return this.#missed
  }

  get passed(): Passed | undefined {
    if (this.#waiting.length > 0 || this.#ending.signal.aborted) return undefined
    return { number: 0, place: this.#place }
  }

  takeDropped(): number {
    const count = this.#dropped
    this.#dropped = 0
    return count
  }

  next(): Promise<Next> {
    const value = this.#waiting.shift()
    if (value === undefined) {
      if (this.#ending.signal.aborted) return Promise.resolve({ done: true, value: undefined })
      return new Promise((resolve) => (this.#asked = resolve))
    }
    for (const go of this.#full.splice(0)) go()
    return Promise.resolve({ done: false, value })
  }

  async return(): Promise<Next> {
    this.#end()
    return { done: true, value: undefined }
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  /** The combined place; undefined while one is unknown. */
  get #place(): LogPlace | undefined {
    const places: LogPlace[] = []
    for (const place of this.#places) {
      if (place === undefined) return undefined
      places.push(place)
    }
    const [first, ...others] = places
    return first && (others.length === 0 ? first : { ...first, others })
  }

  /** Starts reading when all partitions have confirmed: earlier messages would not have a place in all of them. */
  async #begin(parts: MergedSources['parts']): Promise<void> {
    const joined = await Promise.allSettled(parts.map((open, at) => this.#join(open, at)))
    for (const [at, one] of joined.entries()) {
      // also if another one failed: this one ends and is released
      if (one.status === 'fulfilled') void this.#pump(one.value, at)
    }
    for (const one of joined) if (one.status === 'rejected') throw one.reason
  }

  async #join(
    open: (signal: AbortSignal) => AsyncIterable<FollowedPart>,
    at: number,
  ): Promise<AsyncIterator<FollowedPart>> {
    const parts = open(this.#ending.signal)[Symbol.asyncIterator]()
    try {
      const first = await parts.next()
      if (first.done === true) throw new AppError('FENCED', 'a partition moves at the moment; ask again in a second')
      if ('here' in first.value) {
        this.#places[at] = first.value.place
        if (first.value.missed === true) this.#missed = true
      }
    } catch (error) {
      this.#end()
      throw error instanceof AppError ? error : new AppError('FENCED', messageOf(error))
    }
    return parts
  }

  /** Never rejects: the end of one partition ends all. */
  async #pump(parts: AsyncIterator<FollowedPart>, at: number): Promise<void> {
    try {
      for await (const part of { [Symbol.asyncIterator]: () => parts }) {
        if (this.#ending.signal.aborted) break
        if ('dropped' in part) this.#dropped += part.dropped
        else if ('message' in part) await this.#take(part, at)
      }
    } catch {
      // its host is gone
    }
    this.#end()
  }

  #take(
    { resource, message, place }: Extract<FollowedPart, { message: unknown }>,
    at: number,
  ): Promise<void> | undefined {
    // a message that is not in the log leaves the place as it is
    if (place !== undefined) this.#places[at] = place
    const told = { number: 0, topic: resource, value: message, place: this.#place }
    if (this.#asked !== undefined) {
      this.#asked({ done: false, value: told })
      this.#asked = undefined
      return undefined
    }
    this.#waiting.push(told)
    return this.#waiting.length < MAX_WAITING ? undefined : new Promise((resolve) => this.#full.push(resolve))
  }

  #end(): void {
    if (this.#ending.signal.aborted) return
    this.#ending.abort()
    for (const go of this.#full.splice(0)) go()
    this.#asked?.({ done: true, value: undefined })
    this.#asked = undefined
  }
}
