/**
 * Merges the message streams of several partitions, until one of them ends because its partition has moved.
 *
 * MERGED-1 after `ready`, each message of a partition arrives, or the stream ends, or the message is counted as dropped
 * MERGED-2 a resuming reader receives each stored message after its place once, from all partitions, or is notified of
 *   a gap
 */
import { AppError, type FeedReader, type LogPosition, messageOf, type Passed } from '#kernel'
import type { BrokerMessage, FollowedPart, StreamedMessage } from '../contract.ts'

type Next = IteratorResult<StreamedMessage, undefined>

export interface MergedSources {
  /** streams of all partitions, open until the signal aborts; the first part of each confirms the subscription */
  readonly parts: readonly ((signal: AbortSignal) => AsyncIterable<FollowedPart>)[]
  /** whether the reader resumes without a known place in one of the partitions */
  readonly isGap: boolean
}

/** limit of waiting messages; beyond it, partitions wait and drop messages */
const MAX_WAITING = 256

export class MergedReader implements FeedReader<BrokerMessage> {
  readonly ready: Promise<void>
  readonly #positions: (LogPosition | undefined)[]
  #missed: boolean
  readonly #ending = new AbortController()
  readonly #waiting: StreamedMessage[] = []
  #waitingRead: ((next: Next) => void) | undefined
  #full: (() => void)[] = []
  #dropped = 0

  constructor({ parts, isGap }: MergedSources) {
    this.#missed = isGap
    this.#positions = parts.map(() => undefined)
    this.ready = this.#begin(parts)
    // the first read reports the failure
    this.ready.catch(() => undefined)
  }

  get missed(): boolean {
    return this.#missed
  }

  get passed(): Passed | undefined {
    if (this.#waiting.length > 0 || this.#ending.signal.aborted) return undefined
    return { number: 0, place: this.#position }
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
      return new Promise((resolve) => (this.#waitingRead = resolve))
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

  get #position(): LogPosition | undefined {
    const positions: LogPosition[] = []
    for (const position of this.#positions) {
      if (position === undefined) return undefined
      positions.push(position)
    }
    const [first, ...others] = positions
    return first && (others.length === 0 ? first : { ...first, others })
  }

  /** Starts reading once all partitions have confirmed. Earlier messages would not have a place in every partition. */
  async #begin(parts: MergedSources['parts']): Promise<void> {
    const joined = await Promise.allSettled(parts.map((open, at) => this.#join(open, at)))
    for (const [at, one] of joined.entries()) {
      // even if another stream failed, so that this stream ends and is released
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
      if (first.done === true) throw new AppError('FENCED', 'a partition is being moved; retry in a second')
      if ('here' in first.value) {
        this.#positions[at] = first.value.place
        if (first.value.missed === true) this.#missed = true
      }
    } catch (error) {
      this.#end()
      throw error instanceof AppError ? error : new AppError('FENCED', messageOf(error))
    }
    return parts
  }

  /** Forwards the stream of one partition. Never rejects: the end of one stream ends the merged stream. */
  async #pump(parts: AsyncIterator<FollowedPart>, at: number): Promise<void> {
    try {
      for await (const part of { [Symbol.asyncIterator]: () => parts }) {
        if (this.#ending.signal.aborted) break
        if ('dropped' in part) this.#dropped += part.dropped
        else if ('message' in part) await this.#take(part, at)
      }
    } catch {
      // the host of the partition is gone
    }
    this.#end()
  }

  #take(
    { resource, message, place }: Extract<FollowedPart, { message: unknown }>,
    at: number,
  ): Promise<void> | undefined {
    // a message that is not in the log does not advance the place
    if (place !== undefined) this.#positions[at] = place
    const published = { number: 0, topic: resource, value: message, place: this.#position }
    if (this.#waitingRead !== undefined) {
      this.#waitingRead({ done: false, value: published })
      this.#waitingRead = undefined
      return undefined
    }
    this.#waiting.push(published)
    return this.#waiting.length < MAX_WAITING ? undefined : new Promise((resolve) => this.#full.push(resolve))
  }

  #end(): void {
    if (this.#ending.signal.aborted) return
    this.#ending.abort()
    for (const go of this.#full.splice(0)) go()
    this.#waitingRead?.({ done: true, value: undefined })
    this.#waitingRead = undefined
  }
}
