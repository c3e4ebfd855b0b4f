/** Reads samples on a reader's connection, inside the transaction of the caller. */
import { Heap } from '#kernel'
import type { SampleColumns, SampleValue } from '../series.ts'
import { lastInSeries } from './chunks.ts'
import { between, expiryAt, valueAt, type Columns } from './columns.ts'
import type { Database } from './database.ts'
import { requireNamed } from './series-names.ts'
import { arrivedOf, columnsOf } from './series-columns.ts'

export interface RangeRead {
  readonly kind: 'range'
  readonly tenant: string
  /** distinct, ordered by code point */
  readonly resources: readonly string[]
  readonly metric: string
  readonly from: number
  readonly until: number
  readonly descending: boolean
  readonly limit: number
  readonly now: number
}

export interface LatestRead {
  readonly kind: 'latest'
  readonly tenant: string
  readonly resource: string
  readonly metric: string | undefined
  readonly now: number
}

/** Samples as columns, which transfer fast between threads. */
export interface FoundColumns extends SampleColumns {
  /** index of each sample's resource in the query's `resources`; undefined for a single resource */
  readonly indexes: Uint16Array<ArrayBuffer> | undefined
  /** NaN for a sample that does not expire; undefined when none expires */
  readonly expires: Float64Array<ArrayBuffer> | undefined
}

export interface LatestRow {
  readonly metric: string
  readonly time: number
  readonly value: SampleValue
  readonly expires: number | undefined
}

export interface RequestedSeries {
  readonly index: number
  readonly key: number
}

/** `resources`: distinct, ordered by code point. */
export function seriesOf(
  db: Database,
  tenant: string,
  resources: readonly string[],
  metric: string,
): readonly RequestedSeries[] {
  const sql = 'SELECT key FROM series WHERE tenant = ? AND resource = ? AND metric = ?'
  return resources.flatMap((resource, index) => {
    const [key] = db.row<[number]>(sql, tenant, resource, metric) ?? []
    if (key === undefined) return []
    requireNamed(db, 'series', key, [tenant, resource, metric])
    return [{ index, key }]
  })
}

export function readRange(db: Database, read: RangeRead): FoundColumns {
  const { tenant, resources, metric, from, until, descending, limit, now } = read
  const series = seriesOf(db, tenant, resources, metric)
  const newer = arrivedOf(db, new Set(series.map(({ key }) => key)), from, until)
  const span = { from, until, descending, now }
  const cursors = series.map(
    ({ index, key }) => new Cursor(columnsOf(db, key, newer.get(key), span), index, descending),
  )
  const [only] = cursors
  const found = new FoundSamples()
  if (cursors.length === 1 && only !== undefined) {
    while (found.count < limit && only.next()) found.add(only, only.take(limit - found.count))
    return found.columns(resources.length > 1)
  }
  // orders by time, then by resource; reversed when descending
  const heap = new Heap<Cursor>((a, b) => {
    const isBefore = a.time < b.time || (a.time === b.time && a.index < b.index)
    return descending ? !isBefore : isBefore
  })
  for (const cursor of cursors) if (cursor.next()) heap.push(cursor)
  for (let cursor = heap.pop(); cursor !== undefined && found.count < limit; cursor = heap.pop()) {
    found.add(cursor, cursor.take(1))
    if (cursor.next()) heap.push(cursor)
  }
  return found.columns(resources.length > 1)
}

export function readLatest(db: Database, { tenant, resource, metric, now }: LatestRead): readonly LatestRow[] {
  const all = 'SELECT metric, key FROM series WHERE tenant = ? AND resource = ?'
  // SQLite compares UTF-8 bytes, which orders by code point
  const found =
    metric === undefined
      ? db.rows<[string, number]>(`${all} ORDER BY metric`, tenant, resource)
      : db.rows<[string, number]>(`${all} AND metric = ?`, tenant, resource, metric)
  const [from, until] = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]
  const newer = arrivedOf(db, new Set(found.map(([, key]) => key)), from, until)
  return found.flatMap(([name, key]) => {
    requireNamed(db, 'series', key, [tenant, resource, name])
    const arrived = newer.get(key)
    const edge = Math.max(lastInSeries(db, key) ?? from, arrived?.times.at(-1) ?? from)
    // earlier samples are read only if the newest one has expired
    for (const part of [
      { from: edge, until: edge },
      { from, until: edge - 1 },
    ]) {
      for (const columns of columnsOf(db, key, arrived && between(arrived, part.from, part.until), {
        ...part,
        descending: true,
        now,
      })) {
        const i = columns.times.length - 1
        return [
          { metric: name, time: columns.times[i] ?? 0, value: valueAt(columns, i), expires: expiryAt(columns, i) },
        ]
      }
    }
    return []
  })
}

/** Reads through the samples of one series. */
class Cursor {
  readonly index: number
  readonly #parts: Iterator<Columns>
  readonly #descending: boolean
  columns: Columns | undefined
  /** samples already taken from the current part */
  #taken = 0

  constructor(parts: Iterator<Columns>, index: number, descending: boolean) {
    this.#parts = parts
    this.index = index
    this.#descending = descending
  }

  next(): boolean {
    if (this.columns !== undefined && this.#taken < this.columns.times.length) return true
    const { value, done } = this.#parts.next() as IteratorResult<Columns, undefined>
    this.columns = done === true ? undefined : value
    this.#taken = 0
    return this.columns !== undefined
  }

  get time(): number {
    const times = this.columns?.times ?? NO_TIMES
    return times[this.#descending ? times.length - 1 - this.#taken : this.#taken] ?? Number.NaN
  }

  /** Returns the indexes of the next samples in the current part. */
  take(most: number): { readonly first: number; readonly count: number; readonly step: 1 | -1 } {
    const { length } = this.columns?.times ?? NO_TIMES
    const count = Math.min(most, length - this.#taken)
    const first = this.#descending ? length - 1 - this.#taken : this.#taken
    this.#taken += count
    return { first, count, step: this.#descending ? -1 : 1 }
  }
}

const NO_TIMES = new Float64Array()

class FoundSamples {
  readonly #parts: {
    readonly columns: Columns
    readonly index: number
    readonly taken: ReturnType<Cursor['take']>
  }[] = []
  count = 0

  add({ columns, index }: Cursor, taken: ReturnType<Cursor['take']>): void {
    if (columns === undefined) return
    this.count += taken.count
    this.#parts.push({ columns, index, taken })
  }

  columns(several: boolean): FoundColumns {
    const parts = this.#parts
    const times = new Float64Array(this.count)
    const isNumeric = parts.every(({ columns }) => columns.kinds === undefined)
    const numbers = isNumeric ? new Float64Array(this.count) : undefined
    const values: SampleValue[] = []
    const indexes = several ? new Uint16Array(this.count) : undefined
    const isMortal = parts.some(({ columns }) => columns.expires !== undefined)
    const expires = isMortal ? new Float64Array(this.count) : undefined
    let at = 0
    for (const { columns, index, taken } of parts) {
      const { first, count, step } = taken
      if (count > 1 && step === 1 && numbers !== undefined) {
        // copies whole columns, since a loop over the samples would take most of the time of a long read
        times.set(columns.times.subarray(first, first + count), at)
        numbers.set(columns.values.subarray(first, first + count), at)
        indexes?.fill(index, at, at + count)
        if (columns.expires === undefined) expires?.fill(Number.NaN, at, at + count)
        else expires?.set(columns.expires.subarray(first, first + count), at)
        at += count
        continue
      }
      for (let n = 0, i = first; n < count; n += 1, i += step) {
        times[at] = columns.times[i] ?? 0
        if (numbers === undefined) values.push(valueAt(columns, i))
        else numbers[at] = columns.values[i] ?? 0
        if (indexes !== undefined) indexes[at] = index
        if (expires !== undefined) expires[at] = columns.expires?.[i] ?? Number.NaN
        at += 1
      }
    }
    return { times, values: numbers ?? values, indexes, expires }
  }
}
