/**
 * One stream of what several partitions of a tenant tell: messages of each come in their order, those of different ones as
 * they arrive. It ends as soon as one of them does, because that partition has moved; whoever reads comes back, and says
 * where it was in each of them.
 *
 * MERGED-1 nothing that a partition tells after `ready` is missed: it comes, or the stream ends, or it is counted as dropped
 * MERGED-2 whoever comes back with the place of a message is told each stored one of all partitions that it had not seen
 *   at that place, once, or that it is a gap
 */
import { AppError, type FeedReader, type LogPlace, messageOf, type Passed } from '#kernel'
import type { BrokerMessage, FollowedPart, StreamedMessage } from '../contract.ts'

type Next = IteratorResult<StreamedMessage, undefined>

export interface MergedSources {
  /** of each partition, which end with the signal; each says first that it is there */
  readonly parts: readonly ((signal: AbortSignal) => AsyncIterable<FollowedPart>)[]
  /** its reader comes back, and where it was in one of the partitions is not known */
  readonly isGap: boolean
}

/** messages that may wait; beyond them partitions wait, and drop what is too much */
const MAX_WAITING = 256

export class MergedReader implements FeedReader<BrokerMessage> {
  readonly ready: Promise<void>
  /** where the reader is in each of the parts; undefined: not known */
  readonly #places: (LogPlace | undefined)[]
  #missed: boolean
  readonly #ending = new AbortController()
  readonly #waiting: StreamedMessage[] = []
  #asked: ((next: Next) => void) | undefined
  /** partitions that wait until something was taken */
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

  /** Of all parts together; undefined when it is not known of one of them. */
  get #place(): LogPlace | undefined {
    const places: LogPlace[] = []
    for (const place of this.#places) {
      if (place === undefined) return undefined
      places.push(place)
    }
    const [first, ...others] = places
    return first && (others.length === 0 ? first : { ...first, others })
  }

  /** Takes nothing before all are there: what comes first would not know where it is in the others. */
  async #begin(parts: MergedSources['parts']): Promise<void> {
    const joined = await Promise.allSettled(parts.map((open, at) => this.#join(open, at)))
    for (const [at, one] of joined.entries()) {
      // also where another could not be joined: that one is told to end, and lets go
      if (one.status === 'fulfilled') void this.#pump(one.value, at)
    }
    for (const one of joined) if (one.status === 'rejected') throw one.reason
  }

  /** Resolves when the partition has said that it is there. */
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

  /** Never rejects: whatever ends one of them ends all. */
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
    // what no log has leaves its reader where it was
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
