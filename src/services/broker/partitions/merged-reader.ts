/**
 * One stream of what several partitions of a tenant tell: messages of each come in their order, those of different ones as
 * they arrive. It ends as soon as one of them does, because that partition has moved; whoever reads comes back.
 *
 * MERGED-1 nothing that a partition tells after `ready` is missed: it comes, or the stream ends, or it is counted as dropped
 */
import { AppError, messageOf } from '../../../kernel/errors.ts'
import type { FeedReader } from '../../../kernel/feed.ts'
import type { BrokerMessage, FollowedPart, StreamedMessage } from '../contract.ts'

type Next = IteratorResult<StreamedMessage, undefined>

export interface MergedSources {
  /** of the partition that merges, joined already; absent: nothing of it */
  readonly own?: FeedReader<BrokerMessage>
  /** of the others, which end with the signal; each says first that it is there */
  readonly others: readonly ((signal: AbortSignal) => AsyncIterable<FollowedPart>)[]
  /** whether its reader comes back, which is a gap: no partition knows what it saw of the others */
  readonly isBack: boolean
}

/** messages that may wait; beyond them partitions wait, and drop what is too much */
const MAX_WAITING = 256

export class MergedReader implements FeedReader<BrokerMessage> {
  readonly ready: Promise<void>
  readonly missed: boolean
  readonly #own: FeedReader<BrokerMessage> | undefined
  readonly #ending = new AbortController()
  readonly #waiting: StreamedMessage[] = []
  #asked: ((next: Next) => void) | undefined
  /** partitions that wait until something was taken */
  #full: (() => void)[] = []
  #dropped = 0

  constructor({ own, others, isBack }: MergedSources) {
    this.missed = isBack
    this.#own = own
    if (own !== undefined) void this.#pump(messagesOf(own))
    this.ready = Promise.all(others.map((open) => this.#follow(open))).then(() => undefined)
    // the first read finds the end
    this.ready.catch(() => undefined)
  }

  takeDropped(): number {
    const count = this.#dropped + (this.#own?.takeDropped() ?? 0)
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

  /** Resolves when the partition has said that it is there. */
  async #follow(open: (signal: AbortSignal) => AsyncIterable<FollowedPart>): Promise<void> {
    const parts = open(this.#ending.signal)[Symbol.asyncIterator]()
    try {
      const first = await parts.next()
      if (first.done === true) throw new AppError('FENCED', 'a partition moves at the moment; ask again in a second')
    } catch (error) {
      this.#end()
      throw error instanceof AppError ? error : new AppError('FENCED', messageOf(error))
    }
    void this.#pump({ [Symbol.asyncIterator]: () => parts })
  }

  /** Never rejects: whatever ends one of them ends all. */
  async #pump(parts: AsyncIterable<FollowedPart>): Promise<void> {
    try {
      for await (const part of parts) {
        if (this.#ending.signal.aborted) break
        if ('dropped' in part) this.#dropped += part.dropped
        else if ('message' in part) await this.#take(part)
      }
    } catch {
      // its host is gone
    }
    this.#end()
  }

  #take({ resource, message }: Extract<FollowedPart, { message: unknown }>): Promise<void> | undefined {
    const told = { number: 0, topic: resource, value: message }
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
    void this.#own?.return?.()
    for (const go of this.#full.splice(0)) go()
    this.#asked?.({ done: true, value: undefined })
    this.#asked = undefined
  }
}

async function* messagesOf(reader: FeedReader<BrokerMessage>): AsyncGenerator<FollowedPart> {
  for await (const { topic, value } of reader) yield { resource: topic, message: value }
}
