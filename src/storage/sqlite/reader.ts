/** Runs long reads on a worker thread. Each read uses one snapshot of its file. */
import type { CheckedMessages, CheckedNames } from '../check-series.ts'
import { damaged } from '../damage.ts'
import { sumOf } from './checksum.ts'
import { type Database, openReader } from './database.ts'
import { lastOf } from './log-tables.ts'
import { type ArrivedMessage, arrivedMessages, distinctByTime, streamKey } from './message-block.ts'
import { type BucketsRead, readBuckets } from './read-buckets.ts'
import { type DocumentsRead, readDocuments } from './read-documents.ts'
import { type LatestRead, type RangeRead, readLatest, readRange } from './read-samples.ts'
import { timeText } from './series-names.ts'
import { serveThread } from './serve-thread.ts'

export interface ReaderFiles {
  readonly state: string
  readonly series: string
}

export type NameRow = readonly [resource: string, name: string]

type NamesRead = CheckedNames & { readonly kind: 'names'; readonly tenant: string }

type SeriesRead = NamesRead | RangeRead | LatestRead | BucketsRead | MessagesRead | AppliedRead

export type StoreRead =
  | { readonly of: 'documents'; readonly read: DocumentsRead }
  | { readonly of: 'log'; readonly read: LogRead }
  | { readonly of: 'series'; readonly read: SeriesRead }
  | { readonly of: 'tenants' }

/** Cache per file; the operating system caches the rest. */
const CACHE_MB = 8
/** Length of columns from which transferring them is faster than copying. */
const WORTH_A_TRANSFER = 1_024

class Reader {
  readonly #state: Database
  readonly #series: Database

  constructor({ state, series }: ReaderFiles) {
    this.#state = openReader(state, CACHE_MB)
    this.#series = openReader(series, CACHE_MB)
  }

  handle(request: StoreRead): unknown {
    switch (request.of) {
      case 'documents':
        return this.#state.transaction(() => readDocuments(this.#state, request.read))
      case 'log':
        return this.#state.transaction(() => readLog(this.#state, request.read))
      case 'series':
        return this.#series.transaction(() => readSeries(this.#series, request.read))
      case 'tenants':
        return [this.#state, this.#series]
          .flatMap((db) => db.rows<[string]>('SELECT name FROM tenants'))
          .map(([name]) => name)
    }
  }

  /** Transfers columns of samples, since copying long ones takes longer than reading them. */
  transfer(answer: unknown): readonly ArrayBuffer[] {
    if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) return []
    return Object.values(answer).flatMap((part: unknown) =>
      part instanceof Float64Array && part.buffer instanceof ArrayBuffer && part.length >= WORTH_A_TRANSFER
        ? part.buffer
        : [],
    )
  }

  close(): void {
    this.#state.close()
    this.#series.close()
  }
}

function readSeries(db: Database, read: SeriesRead): unknown {
  switch (read.kind) {
    case 'range':
      return readRange(db, read)
    case 'latest':
      return readLatest(db, read)
    case 'buckets':
      return readBuckets(db, read)
    case 'messages':
      return readMessages(db, read)
    case 'applied':
      return readApplied(db, read)
    case 'names':
      return readNames(db, read)
  }
}

/** SQLite compares UTF-8 bytes, which orders by code point. */
function readNames(db: Database, { of, tenant, resource, name, limit }: NamesRead): readonly NameRow[] {
  const [table, column] = of === 'samples' ? ['series', 'metric'] : ['streams', 'stream']
  const sql = `SELECT resource, ${column} FROM ${table} WHERE tenant = ? AND (resource, ${column}) > (?, ?)
    ORDER BY resource, ${column} LIMIT ?`
  return db.rows<[string, string]>(sql, tenant, resource, name, limit)
}

serveThread<StoreRead, unknown>((data) => new Reader(data as ReaderFiles))

/** Reads logs on a reader's connection, inside the transaction of the caller. */
type LogRead = { readonly tenant: string; readonly log: string } & (
  { readonly kind: 'entries'; readonly after: number; readonly limit: number } | { readonly kind: 'bounds' }
)

/** A row is a JSON array of bodies, and the position of its last entry; the first may begin before `from`. */
export interface LogRows {
  readonly from: number
  readonly rows: readonly LogRow[]
}

type LogRow = readonly [last: number, count: number, bodies: string]

function readLog(db: Database, read: LogRead): unknown {
  switch (read.kind) {
    case 'entries': {
      const [key, first] = logOf(db, read)
      const from = Math.max(read.after + 1, first)
      return { from, rows: key === 0 ? [] : rowsFrom(db, read, key, from, read.limit) } satisfies LogRows
    }
    case 'bounds': {
      const [key, first, trimmed] = logOf(db, read)
      return { first, last: lastOf(db, key, trimmed) }
    }
  }
}

function logOf(db: Database, { tenant, log }: LogRead): readonly [key: number, first: number, trimmed: number] {
  const sql = 'SELECT key, first, last FROM logs WHERE tenant = ? AND log = ?'
  return db.row<[number, number, number]>(sql, tenant, log) ?? [0, 1, 0]
}

/** Returns whole rows that contain at least `limit` entries, if available. */
function rowsFrom(db: Database, { tenant, log }: LogRead, key: number, from: number, limit: number): readonly LogRow[] {
  const sql = 'SELECT last, count, bodies, sum FROM entries WHERE log = ? AND last >= ? ORDER BY last'
  const rows: LogRow[] = []
  let before = 0
  const found = db.statement(sql).iterate(key, from) as unknown as Iterable<readonly [...LogRow, sum: number]>
  for (const [last, count, bodies, sum] of found) {
    if (last - count < before || last < from || sumOf([key, last, count], bodies) !== sum) {
      throw damaged(`The log ${log} of the tenant ${tenant}, around its entry ${last},`)
    }
    before = last
    rows.push([last, count, bodies])
    if (last >= from + limit - 1) break
  }
  return rows
}

/** Reads messages and applied log positions on a reader's connection, inside the transaction of the caller. */
interface MessagesRead extends CheckedMessages {
  readonly kind: 'messages'
  readonly tenant: string
  readonly now: number
}

interface AppliedRead {
  readonly kind: 'applied'
  readonly tenant: string
  readonly log: string
}

export type MessageRow = readonly [time: number, body: string, expires: number | null]

function readMessages(db: Database, read: MessagesRead): readonly MessageRow[] {
  const { tenant, resource, stream, from, until, descending, limit, now } = read
  const key = streamKey(db, tenant, resource, stream)
  if (key === undefined) return []
  const direction = descending ? 'DESC' : 'ASC'
  // keys are in order of arrival
  const sql = `
    SELECT time, body, expires, sum FROM messages
    WHERE stream = ? AND time BETWEEN ? AND ? AND (expires IS NULL OR expires > ?)
    ORDER BY time ${direction}, key ${direction} LIMIT 0 + ?`
  const rows = db
    .rows<readonly [...MessageRow, sum: number]>(sql, key, from, until, now, limit)
    .map(([time, body, expires, sum]): MessageRow => {
      if (sumOf([key, time, expires], body) === sum) return [time, body, expires]
      throw damaged(`The message of ${resource}/${stream} (tenant ${tenant}) at ${timeText(time)}`)
    })
  const arrived = withoutRows(db, key, distinctByTime(arrivedMessages(db, key))).filter(
    ({ time, expires }) => time >= from && time <= until && !(expires <= now),
  )
  if (arrived.length === 0) return rows
  const found: MessageRow[] = []
  if (descending) arrived.reverse()
  let [row, block] = [0, 0]
  while (found.length < limit) {
    const [stored, waiting] = [rows[row], arrived[block]]
    if (stored === undefined && waiting === undefined) break
    if (waiting !== undefined && (stored === undefined || isFirst(waiting.time, stored[0], descending))) {
      found.push([waiting.time, waiting.body(), Number.isNaN(waiting.expires) ? null : waiting.expires])
      block += 1
    } else if (stored !== undefined) {
      found.push(stored)
      row += 1
    }
  }
  return found
}

/** True when the message from a block comes first. At equal times, messages in blocks are newer than rows. */
function isFirst(arrived: number, stored: number, descending: boolean): boolean {
  return descending ? arrived >= stored : arrived < stored
}

/** Drops messages that equal a stored row. `arrived` is ordered by time. */
function withoutRows(db: Database, stream: number, arrived: readonly ArrivedMessage[]): ArrivedMessage[] {
  const [first] = arrived
  const [last] = first === undefined ? [] : (db.row<[number | null]>(LAST, stream) ?? [])
  if (first === undefined || last === undefined || last === null) return [...arrived]
  return arrived.filter((one) => {
    if (one.time > last) return true
    return !db.rows<[string]>(BODIES, stream, one.time).some(([body]) => body === one.body())
  })
}

function readApplied(db: Database, { tenant, log }: AppliedRead): number {
  const sql = 'SELECT position FROM applied WHERE tenant = ? AND log = ?'
  return db.row<[number]>(sql, tenant, log)?.[0] ?? 0
}

const LAST = 'SELECT max(time) FROM messages WHERE stream = ?'
const BODIES = 'SELECT body FROM messages WHERE stream = ? AND time = ?'
