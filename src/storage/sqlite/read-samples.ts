/** Reads of samples, on a reader's connection. Works inside the transaction of its caller. */
import type { SampleValue } from '../series.ts'
import type { Database } from './database.ts'
import { SampleView, seriesOf, valueOf, type StoredValue } from './sample-view.ts'

export interface RangeRead {
  readonly kind: 'range'
  readonly tenant: string
  /** without repeats, by code point */
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

/** Samples as columns, because that is what crosses threads fast. */
export interface SampleColumns {
  readonly times: Float64Array<ArrayBuffer>
  readonly values: readonly SampleValue[]
  /** places in the question's `resources`; undefined when it has one */
  readonly places: Uint16Array<ArrayBuffer> | undefined
  /** NaN where a sample stays; undefined when all stay */
  readonly expires: Float64Array<ArrayBuffer> | undefined
}

export interface LatestRow {
  readonly metric: string
  readonly time: number
  readonly value: SampleValue
  readonly expires: number | undefined
}

type Row = readonly [time: number, place: number, ...stored: StoredValue, expires: number | null]

export function readRange(db: Database, read: RangeRead): SampleColumns {
  const { tenant, resources, metric, from, until, descending, limit, now } = read
  const asked = seriesOf(db, tenant, resources, metric)
  if (asked.length === 0) return columnsOf([], false)
  const view = SampleView.open(db, asked, from, until)
  const direction = descending ? 'DESC' : 'ASC'
  // For one series the order of its table is enough; by place too, all of it would be sorted.
  const order = view.pooled ? `time ${direction}, place ${direction}` : `time ${direction}`
  const sql = `SELECT time, place, value, other, expires FROM (${view.sql(from, until)}) ORDER BY ${order} LIMIT ?5`
  return columnsOf(db.rows<Row>(sql, from, until, now, view.firstPlace, limit), resources.length > 1)
}

/** By name of the metric. */
export function readLatest(db: Database, { tenant, resource, metric, now }: LatestRead): readonly LatestRow[] {
  const all = 'SELECT metric, key FROM series WHERE tenant = ? AND resource = ?'
  // By the bytes of UTF-8, which is by code point.
  const found =
    metric === undefined
      ? db.rows<[string, number]>(`${all} ORDER BY metric`, tenant, resource)
      : db.rows<[string, number]>(`${all} AND metric = ?`, tenant, resource, metric)
  const asked = found.map(([, key], place) => ({ place, key }))
  const view = SampleView.open(db, asked, ...EVER)
  const sql = `SELECT time, place, value, other, expires FROM (${view.oneSql}) ORDER BY time DESC LIMIT 1`
  return found.flatMap(([name], place) => {
    const row = db.row<Row>(sql, ...EVER, now, place)
    if (row === undefined) return []
    const [time, , value, other, expires] = row
    return [{ metric: name, time, value: valueOf(value, other), expires: expires ?? undefined }]
  })
}

const EVER = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER] as const

function columnsOf(rows: readonly Row[], several: boolean): SampleColumns {
  const times = new Float64Array(rows.length)
  const values: SampleValue[] = []
  const places = several ? new Uint16Array(rows.length) : undefined
  const expires = rows.some(([, , , , expiry]) => expiry !== null) ? new Float64Array(rows.length) : undefined
  for (const [i, [time, place, value, other, expiry]] of rows.entries()) {
    times[i] = time
    values.push(valueOf(value, other))
    if (places !== undefined) places[i] = place
    if (expires !== undefined) expires[i] = expiry ?? Number.NaN
  }
  return { times, values, places, expires }
}
