/**
 * One writer, many readers: what is published goes to every reader that is there, by topic or to all. Publishing never
 * waits: a reader that cannot keep up loses what its policy says, and is told how much.
 *
 * FEED-1 a reader gets what was published after it joined, in order, without repetition; holes are counted, never
 *   silent
 * FEED-2 publishing costs what its readers cost: topics that nobody reads cost look-ups alone
 * FEED-3 the last `kept` values of a topic can be read again by number, for readers that come back; where values are kept
 *   once somebody reads a topic, whoever has read it before can
 */
import { LruCache } from './lru-cache.ts'

export interface FeedOptions {
  /** values of one topic that are kept for readers that come back; default 0 */
  readonly kept?: number
  /** topics for which values are kept; the one that was quiet for longest is forgotten first; default 10,000 */
  readonly keptTopics?: number
  /** values of a topic are kept from its first reader on; default: of every topic */
  readonly keptOnceRead?: boolean
  /** numbers begin behind this one: up to it they are of an earlier feed, of which nothing is kept; default 0 */
  readonly behind?: number
}

/** Where a log has a value: in an entry, or one of those that were appended with it. Count 0: right before the entry. */
export interface LogPlace {
  readonly position: number
  /** values from the beginning of the entry to this one, with it */
  readonly count: number
  /** of several partitions of the log; absent: the first */
  readonly partition?: number | undefined
  /** where the other partitions are, in a feed of several */
  readonly others?: readonly LogPlace[] | undefined
}

/** A value with its number. Numbers rise by one over all topics, from 1 if no other feed was before. */
export interface Published<T> {
  readonly number: number
  readonly topic: string
  readonly value: T
  /** undefined: no log has it */
  readonly place?: LogPlace | undefined
}

export interface ReaderOptions {
  /** only this topic; all of them when absent */
  readonly topic?: string
  /** values that may wait for this reader; default 1,000 */
  readonly most?: number
  /**
   * What happens when more would wait. `dropOldest` (default): the oldest is lost and counted. `end`: the reader ends,
   * so that it comes back and reads on from its last number.
   */
  readonly overflow?: 'dropOldest' | 'end'
  /** the number that the reader saw last: what was kept since then comes first */
  readonly after?: number
  /** the reader ends */
  readonly signal?: AbortSignal
}

/** Iterate it once; `return()` or the signal let it go. */
export interface FeedReader<T> extends AsyncIterableIterator<Published<T>> {
  /** values that were lost to this reader since it was asked last; resets the count */
  takeDropped(): number
  /** whether values after `after` were kept no more when it joined */
  readonly missed: boolean
  /** `missed` is known when it resolves; absent: at once */
  readonly ready?: Promise<void>
  /** up to where the reader was told all that was for it; undefined: not known, or something waits for it */
  readonly passed?: Passed | undefined
}

export interface Passed {
  readonly number: number
  readonly place?: LogPlace | undefined
}

interface Kept<T> {
  readonly values: Published<T>[]
  /** number of the newest value that is kept no more */
  lost: number
}

export class Feed<T> {
  readonly #byTopic = new Map<string, Set<Reader<T>>>()
  readonly #toAll = new Set<Reader<T>>()
  readonly #kept: LruCache<string, Kept<T>>
  readonly #mostKept: number
  readonly #keptOnceRead: boolean
  #number: number
  #place: LogPlace | undefined
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

  /** number of what was published last */
  get last(): number {
    return this.#number
  }

  get readers(): number {
    let count = this.#toAll.size
    for (const readers of this.#byTopic.values()) count += readers.size
    return count
  }

  /** values that were lost to slow readers since the start */
  get dropped(): number {
    return this.#dropped
  }

  /** Whether anybody reads the topic now. */
  hasReaders(topic: string): boolean {
    return this.#toAll.size > 0 || this.#byTopic.has(topic)
  }

  /** Whether somebody reads the topic, or may come back for what is published on it. */
  isWanted(topic: string): boolean {
    return this.hasReaders(topic) || (this.#mostKept > 0 && this.#keeps(topic))
  }

  /** A value that nobody wants: it has its number, and is not needed. */
  pass(): void {
    this.#number++
  }

  publish(topic: string, value: T, place?: LogPlace): void {
    const published = { number: ++this.#number, topic, value, place }
    if (this.#mostKept > 0 && this.#keeps(topic)) this.#keep(published)
    for (const reader of this.#byTopic.get(topic) ?? []) this.#dropped += reader.take(published)
    for (const reader of this.#toAll) this.#dropped += reader.take(published)
  }

  /** Whatever a log has up to there was published, as far as it is for readers of this feed. */
  passed(place: LogPlace): void {
    this.#place = place
  }

  /** Without a topic, `after` brings back nothing, since values are kept by topic; `missed` tells whether there were any. */
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

  /** All readers end after what waits for them; later ones at once. */
  end(): void {
    this.#ended = true
    for (const readers of [this.#toAll, ...this.#byTopic.values()]) for (const reader of readers) reader.end()
  }

  #since(topic: string | undefined, after: number | undefined): { values: Published<T>[]; lost: boolean } {
    if (after === undefined) return { values: [], lost: false }
    if (topic === undefined) return { values: [], lost: after !== this.#number }
    const kept = this.#kept.peek(topic)
    // a number of the future is one of another life
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

/** How a reader finds its feed. */
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
  /** place of the first value that waits; those before it are taken */
  #first = 0
  #dropped = 0
  #ended = false
  readonly #asked: ((result: IteratorResult<Published<T>, undefined>) => void)[] = []
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

  /** Gives how many values were lost. */
  take(published: Published<T>): number {
    if (this.#ended) return 0
    const asked = this.#asked.shift()
    if (asked !== undefined) {
      asked({ done: false, value: published })
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
    for (const asked of this.#asked.splice(0)) asked(DONE)
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
    return new Promise((resolve) => this.#asked.push(resolve))
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
