/**
 * Publish/subscribe feed with one writer and many readers, by topic or for all topics. Publishing never waits: a reader
 * that falls behind loses values according to its overflow policy, and the loss is counted.
 *
 * FEED-1 a reader receives what was published after it joined, in order and without repetition; losses are counted,
 *   never silent
 * FEED-2 publishing takes work only for readers: without readers, a topic costs only look-ups
 * FEED-3 a returning reader can read the last `kept` values of a topic again by number; with `keptOnceRead` this holds
 *   for topics that have had a reader
 */
import { LruCache } from './lru-cache.ts'

export interface FeedOptions {
  /** values per topic kept for returning readers; default 0 */
  readonly kept?: number
  /** maximum number of topics with kept values; when exceeded, the longest quiet topic is evicted; default 10,000 */
  readonly keptTopics?: number
  /** keep values only for topics that have had a reader; default: for every topic */
  readonly keptOnceRead?: boolean
  /** last number used by an earlier feed, whose values are lost; default 0 */
  readonly behind?: number
}

/** Position of a value in a log: within an entry. Count 0 is the position right before the entry. */
export interface LogPosition {
  readonly position: number
  /** number of values in the entry up to and including this value */
  readonly count: number
}

/** A published value with its number. Numbers rise by one across all topics; the first feed starts at 1. */
export interface Published<T> {
  readonly number: number
  readonly topic: string
  readonly value: T
  /** place in the log; undefined when the value is not in a log */
  readonly place?: LogPosition | undefined
}

export interface ReaderOptions {
  /** topic to read; absent: all topics */
  readonly topic?: string
  /** maximum number of values queued for this reader; default 1,000 */
  readonly most?: number
  /**
   * What happens when the queue is full: `dropOldest` (default) drops and counts the oldest value; `end` ends the
   * reader, which can rejoin after its last number.
   */
  readonly overflow?: 'dropOldest' | 'end'
  /** last number that the reader has received; later values that are still kept come first */
  readonly after?: number
  readonly signal?: AbortSignal
}

/** Reads a feed; can be iterated once. Calling `return()` or aborting the signal releases the reader. */
export interface FeedReader<T> extends AsyncIterableIterator<Published<T>> {
  /** number of values lost since the last call; resets the count */
  takeDropped(): number
  /** true when values after `after` were already evicted when the reader joined */
  readonly missed: boolean
  /** resolves once `missed` is known; absent when `missed` is known at once */
  readonly ready?: Promise<void>
  /** position up to which the reader has received everything; undefined: unknown, or values are queued */
  readonly passed?: Passed | undefined
}

export interface Passed {
  readonly number: number
  readonly place?: LogPosition | undefined
}

interface Kept<T> {
  readonly values: Published<T>[]
  /** number of the newest evicted value */
  lost: number
}

export class Feed<T> {
  readonly #byTopic = new Map<string, Set<Reader<T>>>()
  readonly #toAll = new Set<Reader<T>>()
  readonly #kept: LruCache<string, Kept<T>>
  readonly #mostKept: number
  readonly #keptOnceRead: boolean
  #number: number
  #place: LogPosition | undefined
  #forgotten: number
  #dropped = 0
  #ended = false

  constructor({ kept = 0, keptTopics = 10_000, keptOnceRead = false, behind = 0 }: FeedOptions = {}) {
    this.#number = behind
    this.#forgotten = behind
    this.#mostKept = kept
    this.#keptOnceRead = keptOnceRead
    this.#kept = new LruCache(keptTopics)
  }

  get last(): number {
    return this.#number
  }

  get readers(): number {
    let count = this.#toAll.size
    for (const readers of this.#byTopic.values()) count += readers.size
    return count
  }

  get dropped(): number {
    return this.#dropped
  }

  hasReaders(topic: string): boolean {
    return this.#toAll.size > 0 || this.#byTopic.has(topic)
  }

  isWanted(topic: string): boolean {
    return this.hasReaders(topic) || (this.#mostKept > 0 && this.#keeps(topic))
  }

  pass(): void {
    this.#number++
  }

  publish(topic: string, value: T, place?: LogPosition): void {
    const published = { number: ++this.#number, topic, value, place }
    if (this.#mostKept > 0 && this.#keeps(topic)) this.#keep(published)
    for (const reader of this.#byTopic.get(topic) ?? []) this.#dropped += reader.take(published)
    for (const reader of this.#toAll) this.#dropped += reader.take(published)
  }

  passed(place: LogPosition): void {
    this.#place = place
  }

  /** Values are kept per topic, so without a topic `after` replays nothing and `missed` reports later values. */
  read(options: ReaderOptions = {}): FeedReader<T> {
    const { topic, after } = options
    const { values, lost } = this.#since(topic, after)
    if (topic !== undefined && this.#mostKept > 0 && !this.#keeps(topic))
      this.#remember(topic, { values: [], lost: this.#number })
    const passed = (): Passed => ({ number: this.#number, place: this.#place })
    const reader = new Reader<T>(options, {
      waiting: values,
      missed: lost,
      passed,
      leave: () => this.#leave(topic, reader),
    })
    if (this.#ended || options.signal?.aborted === true) {
      reader.end()
      return reader
    }
    if (topic === undefined) this.#toAll.add(reader)
    else {
      const readers = this.#byTopic.get(topic) ?? new Set()
      this.#byTopic.set(topic, readers.add(reader))
    }
    return reader
  }

  end(): void {
    this.#ended = true
    for (const readers of [this.#toAll, ...this.#byTopic.values()]) for (const reader of readers) reader.end()
  }

  #since(topic: string | undefined, after: number | undefined): { values: Published<T>[]; lost: boolean } {
    if (after === undefined) return { values: [], lost: false }
    if (topic === undefined) return { values: [], lost: after !== this.#number }
    const kept = this.#kept.peek(topic)
    // a number beyond the current one comes from an earlier feed
    const lost = after > this.#number || after < (kept?.lost ?? (this.#keptOnceRead ? this.#number : this.#forgotten))
    return { values: kept?.values.filter(({ number }) => number > after || after > this.#number) ?? [], lost }
  }

  #keeps(topic: string): boolean {
    return !this.#keptOnceRead || this.#byTopic.has(topic) || this.#kept.peek(topic) !== undefined
  }

  #keep(published: Published<T>): void {
    const { topic } = published
    const lost = this.#keptOnceRead ? published.number - 1 : this.#forgotten
    const kept = this.#kept.peek(topic) ?? { values: [], lost }
    kept.values.push(published)
    if (kept.values.length > this.#mostKept) kept.lost = kept.values.shift()?.number ?? kept.lost
    this.#remember(topic, kept)
  }

  #remember(topic: string, kept: Kept<T>): void {
    const quietest = this.#kept.set(topic, kept)
    if (quietest !== undefined) this.#forgotten = Math.max(this.#forgotten, quietest.values.at(-1)?.number ?? 0)
  }

  #leave(topic: string | undefined, reader: Reader<T>): void {
    if (topic === undefined) return void this.#toAll.delete(reader)
    const readers = this.#byTopic.get(topic)
    readers?.delete(reader)
    if (readers?.size === 0) this.#byTopic.delete(topic)
  }
}

const DONE = { done: true, value: undefined } as const

interface Joined<T> {
  readonly waiting: Published<T>[]
  readonly missed: boolean
  readonly passed: () => Passed
  readonly leave: () => void
}

class Reader<T> implements FeedReader<T> {
  readonly missed: boolean
  readonly #passed: () => Passed
  readonly #options: ReaderOptions
  readonly #leave: () => void
  #waiting: Published<T>[]
  #first = 0
  #dropped = 0
  #ended = false
  readonly #waitingReads: ((result: IteratorResult<Published<T>, undefined>) => void)[] = []
  readonly #abort = (): void => {
    this.#waiting = []
    this.#first = 0
    this.end()
  }

  constructor(options: ReaderOptions, { waiting, missed, passed, leave }: Joined<T>) {
    this.#options = options
    this.#waiting = waiting
    this.missed = missed
    this.#passed = passed
    this.#leave = leave
    options.signal?.addEventListener('abort', this.#abort, { once: true })
  }

  get passed(): Passed | undefined {
    return this.#ended || this.#waiting.length > this.#first ? undefined : this.#passed()
  }

  take(published: Published<T>): number {
    if (this.#ended) return 0
    const waitingReads = this.#waitingReads.shift()
    if (waitingReads !== undefined) {
      waitingReads({ done: false, value: published })
      return 0
    }
    const { most = 1000, overflow = 'dropOldest' } = this.#options
    if (this.#waiting.length - this.#first < most) {
      this.#waiting.push(published)
      return 0
    }
    this.#dropped++
    if (overflow === 'end') this.end()
    else {
      this.#first++
      this.#waiting.push(published)
      this.#compact()
    }
    return 1
  }

  end(): void {
    if (this.#ended) return
    this.#ended = true
    this.#options.signal?.removeEventListener('abort', this.#abort)
    this.#leave()
    for (const waitingReads of this.#waitingReads.splice(0)) waitingReads(DONE)
  }

  takeDropped(): number {
    const count = this.#dropped
    this.#dropped = 0
    return count
  }

  next(): Promise<IteratorResult<Published<T>, undefined>> {
    const value = this.#waiting[this.#first]
    if (value !== undefined) {
      this.#first++
      this.#compact()
      return Promise.resolve({ done: false, value })
    }
    if (this.#ended) return Promise.resolve(DONE)
    return new Promise((resolve) => this.#waitingReads.push(resolve))
  }

  return(): Promise<IteratorResult<Published<T>, undefined>> {
    this.#abort()
    return Promise.resolve(DONE)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #compact(): void {
    if (this.#first < 64 || this.#first * 2 < this.#waiting.length) return
    this.#waiting.splice(0, this.#first)
    this.#first = 0
  }
}
