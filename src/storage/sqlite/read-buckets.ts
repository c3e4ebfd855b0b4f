/** Reads buckets of samples on a reader's connection, inside the transaction of the caller. */
import type { BucketQuery, SampleValue } from '../series.ts'
import { valueAt, type Columns } from './columns.ts'
import type { Database } from './database.ts'
import { seriesOf } from './read-samples.ts'
import { NUMBER } from './sample-block.ts'
import { arrivedOf, columnsOf } from './series-columns.ts'

/** `resources`: distinct, ordered by code point. */
export interface BucketsRead extends BucketQuery {
  readonly kind: 'buckets'
  readonly tenant: string
  readonly now: number
}

/** `FIGURES` numbers each; without numeric samples, the figures from the sum on are undefined. */
export interface BucketColumns {
  readonly figures: Float64Array<ArrayBuffer>
  /** a Float64Array if all values are numbers */
  readonly firsts: Float64Array<ArrayBuffer> | readonly SampleValue[]
  readonly lasts: Float64Array<ArrayBuffer> | readonly SampleValue[]
}

/** Numbers per bucket: start, count, numeric, sum, min, max, sumOfSquares. */
export const FIGURES = 7

export function readBuckets(db: Database, read: BucketsRead): BucketColumns {
  const { tenant, resources, metric, from, until, width, now } = read
  const series = seriesOf(db, tenant, resources, metric)
  const newer = arrivedOf(db, new Set(series.map(({ key }) => key)), from, until - 1)
  const span = { from, until: until - 1, now }
  const found = new FoundBuckets(from, width)
  for (const { key } of series) {
    found.begin()
    for (const columns of columnsOf(db, key, newer.get(key), span)) found.add(columns)
  }
  return found.columns()
}

const [START, COUNT, NUMERIC, SUM, MIN, MAX, SQUARES] = [0, 1, 2, 3, 4, 5, 6] as const

/** Aggregates samples, one series after the other, each in order of time. */
class FoundBuckets {
  readonly #from: number
  readonly #width: number
  /** `FIGURES` numbers per bucket, in the order in which buckets were created */
  #figures = new Float64Array(64 * FIGURES)
  #edges = new Float64Array(64 * 2)
  readonly #firsts = new FoundValues()
  readonly #lasts = new FoundValues()
  #count = 0
  /** buckets by start; needed only for several series, since the buckets of a single series come in order */
  #known: Map<number, number> | undefined
  #series = 0
  /** the current bucket, and its end */
  #slot = -1
  #end = Number.NEGATIVE_INFINITY

  constructor(from: number, width: number) {
    this.#from = from
    this.#width = width
  }

  begin(): void {
    this.#series += 1
    this.#end = Number.NEGATIVE_INFINITY
    if (this.#series === 2) {
      this.#known = new Map()
      for (let slot = 0; slot < this.#count; slot += 1) this.#known.set(this.#startOf(slot), slot)
    }
  }

  add(columns: Columns): void {
    const { times } = columns
    for (let start = 0; start < times.length;) {
      const time = times[start] ?? 0
      if (time >= this.#end) this.#enter(time)
      // most buckets contain few samples, but some a whole chunk
      let end = start + 1
      const bound = this.#end
      if ((times[times.length - 1] ?? 0) < bound) end = times.length
      else while (end < times.length && (times[end] ?? 0) < bound) end += 1
      this.#reckon(columns, start, end)
      start = end
    }
  }

  columns(): BucketColumns {
    const count = this.#count
    const figures = this.#figures.subarray(0, count * FIGURES)
    if (this.#series < 2) {
      return { figures, firsts: this.#firsts.values(count), lasts: this.#lasts.values(count) }
    }
    const order = Uint32Array.from({ length: count }, (_, slot) => slot)
    order.sort((a, b) => this.#startOf(a) - this.#startOf(b))
    const ordered = new Float64Array(count * FIGURES)
    for (const [i, slot] of order.entries()) {
      ordered.set(figures.subarray(slot * FIGURES, (slot + 1) * FIGURES), i * FIGURES)
    }
    return { figures: ordered, firsts: this.#firsts.picked(order), lasts: this.#lasts.picked(order) }
  }

  #startOf(slot: number): number {
    return this.#figures[slot * FIGURES + START] ?? 0
  }

  #enter(time: number): void {
    const since = time - this.#from
    // the remainder is exact, whereas a quotient might round up into the next bucket
    const start = this.#from + since - (since % this.#width)
    this.#end = start + this.#width
    const known = this.#known?.get(start)
    if (known !== undefined) {
      this.#slot = known
      return
    }
    const slot = this.#count
    this.#count += 1
    this.#slot = slot
    this.#known?.set(start, slot)
    this.#figures = withRoom(this.#figures, this.#count * FIGURES)
    this.#edges = withRoom(this.#edges, this.#count * 2)
    const at = slot * FIGURES
    this.#figures[at + START] = start
    this.#figures[at + MIN] = Number.POSITIVE_INFINITY
    this.#figures[at + MAX] = Number.NEGATIVE_INFINITY
    this.#edges[slot * 2] = Number.POSITIVE_INFINITY
    this.#edges[slot * 2 + 1] = Number.NEGATIVE_INFINITY
  }

  #reckon(columns: Columns, start: number, end: number): void {
    const { times, values, kinds } = columns
    const figures = this.#figures
    const slot = this.#slot
    const at = slot * FIGURES
    let numeric = end - start
    let sum = 0
    let squares = 0
    let min = figures[at + MIN] ?? 0
    let max = figures[at + MAX] ?? 0
    if (kinds === undefined) {
      for (let i = start; i < end; i += 1) {
        const value = values[i] as number
        sum += value
        squares += value * value
        min = Math.min(min, value)
        max = Math.max(max, value)
      }
    } else {
      for (let i = start; i < end; i += 1) {
        if (kinds[i] !== NUMBER) {
          numeric -= 1
          continue
        }
        const value = values[i] ?? 0
        sum += value
        squares += value * value
        if (value < min) min = value
        if (value > max) max = value
      }
    }
    figures[at + COUNT] = (figures[at + COUNT] ?? 0) + end - start
    figures[at + NUMERIC] = (figures[at + NUMERIC] ?? 0) + numeric
    figures[at + SUM] = (figures[at + SUM] ?? 0) + sum
    figures[at + SQUARES] = (figures[at + SQUARES] ?? 0) + squares
    figures[at + MIN] = min
    figures[at + MAX] = max
    const edges = this.#edges
    const [first, last] = [times[start] ?? 0, times[end - 1] ?? 0]
    // at equal times, the first value is from the earliest series and the last value from the latest
    if (first < (edges[slot * 2] ?? 0)) {
      edges[slot * 2] = first
      this.#firsts.set(slot, columns, start)
    }
    if (last >= (edges[slot * 2 + 1] ?? 0)) {
      edges[slot * 2 + 1] = last
      this.#lasts.set(slot, columns, end - 1)
    }
  }
}

/** Collects one value per bucket, as numbers while possible, since numbers transfer fast between threads. */
class FoundValues {
  #numbers = new Float64Array(64)
  /** values that are not numbers, by bucket */
  #others: Map<number, SampleValue> | undefined

  set(slot: number, columns: Columns, index: number): void {
    if (columns.kinds === undefined) {
      this.#numbers = withRoom(this.#numbers, slot + 1)
      this.#numbers[slot] = columns.values[index] ?? 0
      this.#others?.delete(slot)
      return
    }
    const value = valueAt(columns, index)
    if (typeof value === 'number') {
      this.#numbers = withRoom(this.#numbers, slot + 1)
      this.#numbers[slot] = value
      this.#others?.delete(slot)
    } else (this.#others ??= new Map()).set(slot, value)
  }

  values(count: number): BucketColumns['firsts'] {
    this.#numbers = withRoom(this.#numbers, count)
    const numbers = this.#numbers.subarray(0, count)
    const others = this.#others
    return others === undefined ? numbers : Array.from(numbers, (number, slot) => others.get(slot) ?? number)
  }

  picked(order: Uint32Array): BucketColumns['firsts'] {
    const values = this.values(order.length)
    return Array.from(order, (slot) => values[slot] ?? 0)
  }
}

function withRoom(numbers: Float64Array<ArrayBuffer>, count: number): Float64Array<ArrayBuffer> {
  if (count <= numbers.length) return numbers
  const larger = new Float64Array(Math.max(count, numbers.length * 2))
  larger.set(numbers)
  return larger
}
