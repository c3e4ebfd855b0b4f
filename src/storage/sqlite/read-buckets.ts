/** Buckets of samples, on a reader's connection. Works inside the transaction of its caller. */
import type { Bucket, BucketQuery, SampleValue } from '../series.ts'
import type { Database } from './database.ts'
import { SampleView, seriesOf, valueOf, type StoredValue } from './sample-view.ts'

/** `resources` without repeats, by code point. */
export interface BucketsRead extends BucketQuery {
  readonly kind: 'buckets'
  readonly tenant: string
  readonly now: number
}

/** Buckets as columns: for each the numbers of `FIGURES`, NaN for null. */
export interface BucketColumns {
  readonly figures: Float64Array<ArrayBuffer>
  readonly firsts: readonly SampleValue[]
  readonly lasts: readonly SampleValue[]
}

/** Numbers of a bucket: start, count, numeric, sum, min, max, sumOfSquares. */
export const FIGURES = 7

/**
 * Up to so many buckets, times series, are asked for one by one, which SQLite answers at the speed of its table. More are
 * reckoned here from one pass over the samples: then there are few samples in each.
 */
const MAX_ASKED = 20_000

export function readBuckets(db: Database, read: BucketsRead): BucketColumns {
  const { tenant, resources, metric, from, until, width } = read
  const asked = seriesOf(db, tenant, resources, metric)
  const found = new Found()
  if (asked.length > 0) {
    const view = SampleView.open(db, asked, from, until - 1)
    const work = Math.ceil((until - from) / width) * asked.length
    if (work <= MAX_ASKED) askForEach(db, view, read, found)
    else passOver(db, view, read, found)
  }
  return found.columns()
}

type Aggregates = readonly [
  count: number,
  numeric: number,
  sum: number | null,
  min: number | null,
  max: number | null,
  sumOfSquares: number | null,
  firstTime: number,
  lastTime: number,
]

function askForEach(db: Database, view: SampleView, { from, until, width, now }: BucketsRead, found: Found): void {
  const aggregates = (start: number, end: number): string => `
    SELECT count(*), count(value), sum(value), min(value), max(value), sum(value * value), min(time), max(time)
    FROM (${view.sql(start, end)})`
  const edge = (time: number, direction: 'ASC' | 'DESC'): string =>
    `SELECT value, other FROM (${view.sql(time, time)}) ORDER BY place ${direction} LIMIT 1`
  const valueAt = (time: number, direction: 'ASC' | 'DESC'): SampleValue =>
    valueOf(...(db.row<StoredValue>(edge(time, direction), time, time, now, view.firstPlace) ?? [null, null]))
  for (let start = from; start < until; start += width) {
    const end = Math.min(start + width, until) - 1
    const row = db.row<Aggregates>(aggregates(start, end), start, end, now, view.firstPlace)
    if (row === undefined || row[0] === 0) continue
    const [count, numeric, sum, min, max, sumOfSquares, firstTime, lastTime] = row
    const [first, last] = [valueAt(firstTime, 'ASC'), valueAt(lastTime, 'DESC')]
    found.add({ start, count, numeric, sum, min, max, sumOfSquares, first, last })
  }
}

type Row = readonly [time: number, ...stored: StoredValue]

function passOver(db: Database, view: SampleView, { from, until, width, now }: BucketsRead, found: Found): void {
  const order = view.pooled ? 'time, place' : 'time'
  const sql = `SELECT time, value, other FROM (${view.sql(from, until - 1)}) ORDER BY ${order}`
  let bucket: Reckoning | undefined
  const rows = db.statement(sql).iterate(from, until - 1, now, view.firstPlace) as unknown as Iterable<Row>
  for (const [time, value, other] of rows) {
    const start = from + Math.floor((time - from) / width) * width
    if (bucket?.start !== start) {
      if (bucket !== undefined) found.add(bucket)
      bucket = new Reckoning(start, valueOf(value, other))
    }
    bucket.add(value, other)
  }
  if (bucket !== undefined) found.add(bucket)
}

class Reckoning implements Bucket {
  readonly start: number
  readonly first: SampleValue
  count = 0
  numeric = 0
  sum: number | null = null
  min: number | null = null
  max: number | null = null
  sumOfSquares: number | null = null
  last: SampleValue

  constructor(start: number, first: SampleValue) {
    this.start = start
    this.first = first
    this.last = first
  }

  add(value: number | null, other: string | number | null): void {
    this.count += 1
    this.last = valueOf(value, other)
    if (value === null) return
    this.numeric += 1
    this.sum = (this.sum ?? 0) + value
    this.sumOfSquares = (this.sumOfSquares ?? 0) + value * value
    this.min = this.min === null ? value : Math.min(this.min, value)
    this.max = this.max === null ? value : Math.max(this.max, value)
  }
}

class Found {
  readonly #figures: number[] = []
  readonly #firsts: SampleValue[] = []
  readonly #lasts: SampleValue[] = []

  add({ start, count, numeric, sum, min, max, sumOfSquares, first, last }: Bucket): void {
    const none = Number.NaN
    this.#figures.push(start, count, numeric, sum ?? none, min ?? none, max ?? none, sumOfSquares ?? none)
    this.#firsts.push(first)
    this.#lasts.push(last)
  }

  columns(): BucketColumns {
    return { figures: Float64Array.from(this.#figures), firsts: this.#firsts, lasts: this.#lasts }
  }
}
