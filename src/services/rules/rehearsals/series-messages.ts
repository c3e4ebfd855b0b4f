/** Reads messages from stored series: samples of one resource at the same time form one message. */
import type { Message } from '#core'
import type { MessageIterator } from '#core/spi'
import type { SampleColumns, SampleValue } from '#storage'
import type { RehearsalHistory } from './rehearsal-history.ts'

export const SAMPLES_AT_ONCE = 20_000

class MetricCursor {
  readonly resource: string
  readonly metric: string
  readonly #read: (from: number) => Promise<SampleColumns>
  #page: SampleColumns = { times: new Float64Array(), values: new Float64Array() }
  #ahead: Promise<SampleColumns> | undefined
  readonly #size: number
  #place = 0

  constructor(
    resource: string,
    metric: string,
    from: number,
    size: number,
    read: (from: number) => Promise<SampleColumns>,
  ) {
    this.#size = size
    this.resource = resource
    this.metric = metric
    this.#read = read
    this.#ahead = this.#readFrom(from)
  }

  /** Time of the current sample; Infinity after the last sample; undefined if `load` must be called first. */
  get time(): number | undefined {
    const { times } = this.#page
    if (this.#place < times.length) return times[this.#place]
    return this.#ahead === undefined ? Number.POSITIVE_INFINITY : undefined
  }

  async load(): Promise<void> {
    const page = (await this.#ahead) ?? this.#page
    this.#page = page
    this.#place = 0
    const last = page.times.at(-1)
    this.#ahead = last === undefined || page.times.length < this.#size ? undefined : this.#readFrom(last + 1)
  }

  take(): SampleValue {
    return this.#page.values[this.#place++] as SampleValue
  }

  #readFrom(from: number): Promise<SampleColumns> {
    const reading = this.#read(from)
    // `load` reports the failure
    reading.catch(() => undefined)
    return reading
  }
}

export interface SeriesRange {
  /** in the order in which messages of the same time are delivered */
  readonly resources: readonly string[]
  /** epoch ms, both inclusive */
  readonly from: number
  readonly until: number
  /** maximum number of samples per call of the history; default `SAMPLES_AT_ONCE` */
  readonly page?: number
}

/** Merges the metrics of some resources by time. Holds two pages per metric in memory. */
export class SeriesMessages implements MessageIterator {
  readonly #history: RehearsalHistory
  readonly #range: SeriesRange
  readonly #taken: (message: Message, time: number) => void
  /** undefined before the first message */
  #cursors: MetricCursor[] | undefined

  /** `taken` is called with each message before it is delivered. */
  constructor(history: RehearsalHistory, range: SeriesRange, taken: (message: Message, time: number) => void) {
    this.#history = history
    this.#range = range
    this.#taken = taken
  }

  next(): ReturnType<MessageIterator['next']> {
    const cursors = this.#cursors
    if (cursors === undefined) return this.#open().then(() => this.next())
    let first: MetricCursor | undefined
    let at = Number.POSITIVE_INFINITY
    for (let i = 0; i < cursors.length; i++) {
      const cursor = cursors[i] as MetricCursor
      const { time } = cursor
      if (time === undefined) return this.#load(cursors)
      if (time >= at) continue
      first = cursor
      at = time
    }
    if (first === undefined) return { done: true, value: undefined }
    const { resource } = first
    const message: Record<string, unknown> & Message = { resource, timestamp: at }
    for (let i = 0; i < cursors.length; i++) {
      const cursor = cursors[i] as MetricCursor
      if (cursor.resource === resource && cursor.time === at) message[cursor.metric] = cursor.take()
    }
    this.#taken(message, at)
    return { done: false, value: message }
  }

  async #open(): Promise<void> {
    const { resources, from, until, page = SAMPLES_AT_ONCE } = this.#range
    const lists = await Promise.all(resources.map((resource) => this.#history.metrics(resource)))
    this.#cursors = resources.flatMap((resource, i) =>
      (lists[i] ?? []).map(
        (metric) =>
          new MetricCursor(resource, metric, from, page, (start) =>
            start > until
              ? Promise.resolve({ times: new Float64Array(), values: [] })
              : this.#history.samples(resource, metric, start, until),
          ),
      ),
    )
  }

  async #load(cursors: readonly MetricCursor[]): Promise<Awaited<ReturnType<MessageIterator['next']>>> {
    await Promise.all(cursors.filter(({ time }) => time === undefined).map((cursor) => cursor.load()))
    return this.next()
  }
}
