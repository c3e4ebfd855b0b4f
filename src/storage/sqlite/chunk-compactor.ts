/** Moves samples of small and large batches into chunks, inside the transaction of its caller. */
import {
  chunksWithin,
  deleteChunk,
  dueChunks,
  findSmallChunks,
  lastInChunks,
  type StoredChunk,
  writeChunks,
} from './chunks.ts'
import { type Columns, filtered, indexFrom, joinedColumns, merged, slice } from './columns.ts'
import type { Database } from './database.ts'
import { countRows, deleteRows, extentOfRows, readRows, RowWriter } from './sample-rows.ts'

/** maximum number of samples in memory, counted in chunks */
const MAX_CHUNKS = 4
const [EVER, NEVER] = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]

export class ChunkCompactor {
  readonly #db: Database
  readonly #size: number
  readonly #rows: RowWriter
  readonly #written = new WrittenRows()

  constructor(db: Database, size: number) {
    this.#db = db
    this.#size = size
    this.#rows = new RowWriter(db)
  }

  get many(): number {
    return this.#few
  }

  /** Returns false when there are too few samples, which should then be stored as rows. */
  append(series: number, columns: Columns): boolean {
    const last = lastInChunks(this.#db, series)
    const start = last === undefined ? 0 : indexFrom(columns.times, last + 1)
    const fresh = slice(columns, start, columns.times.length)
    if (fresh.times.length < this.#few) return false
    const tail = readRows(this.#db, series, last === undefined ? EVER : last + 1, NEVER, MAX_CHUNKS * this.#size)
    if (!tail.whole) return false
    if (tail.columns.times.length > 0) deleteRows(this.#db, series, tail.columns.times[0] ?? EVER, NEVER)
    this.#addChunk(series, merged(tail.columns, fresh))
    if (start > 0) {
      this.#rows.write(series, slice(columns, 0, start))
      this.wrote(series, start)
    }
    return true
  }

  /** Merges small chunks once they suffice for a full one, so that each sample is written at most twice. */
  #addChunk(series: number, columns: Columns): void {
    const { from, count } = findSmallChunks(this.#db, series, this.#size)
    if (count + columns.times.length < this.#size) return writeChunks(this.#db, series, columns, this.#size)
    const small = from === undefined ? [] : [...chunksWithin(this.#db, series, from, NEVER)]
    for (const { key } of small) deleteChunk(this.#db, key)
    const parts = small.map((chunk) => chunk.columns(this.#db))
    writeChunks(this.#db, series, joinedColumns([...parts, columns]), this.#size)
  }

  /** Counts new rows of a series, and occasionally moves them into chunks. */
  wrote(series: number, rows: number): void {
    if (this.#written.add(series, rows) < this.#few) return
    this.#written.lookAfter(series, Math.max(this.#few, this.pack(series)) - this.#few)
  }

  /** Drops cached counts; call after a failed transaction. */
  forget(): void {
    this.#written.clear()
  }

  /** Returns how many new rows to wait for before the next call; -1 when more work is left. */
  pack(series: number): number {
    const last = lastInChunks(this.#db, series)
    const lacking = this.#packNewest(series, last)
    if (lacking < 0) return lacking
    // wait for twice as many rows as are left, so that the total work stays linear in the number of late samples
    const left = last === undefined ? 0 : this.#packLate(series, last)
    return Math.max(left, lacking)
  }

  remove(series: number, from: number, until: number): void {
    deleteRows(this.#db, series, from, until)
    for (const chunk of chunksWithin(this.#db, series, from, until)) {
      this.#rewrite(chunk, (columns) =>
        filtered(columns, (i) => {
          const time = columns.times[i] ?? 0
          return time < from || time > until
        }),
      )
    }
  }

  /** Deletes some of the samples that expired before `now`; returns how many of them were visible. */
  expire(tenant: string, now: number, limit: number): number {
    const rows = this.#db.rows<[number, number]>(EXPIRED_ROWS, now, tenant, limit)
    for (const [series, time] of rows) {
      // the row hides an older sample in a chunk, which must be deleted too
      for (const chunk of chunksWithin(this.#db, series, time, time)) {
        this.#rewrite(chunk, (columns) => filtered(columns, (i) => columns.times[i] !== time))
      }
      deleteRows(this.#db, series, time, time)
    }
    let gone = rows.length
    if (gone >= limit) return gone
    for (const chunk of dueChunks(this.#db, tenant, now)) {
      const { series, first, last } = chunk
      this.#rewrite(chunk, (columns) => {
        const { columns: over } = readRows(this.#db, series, first, last, columns.times.length * 2)
        return filtered(columns, (i) => {
          if (!((columns.expires?.[i] ?? Number.NaN) <= now)) return true
          const time = columns.times[i] ?? 0
          if (over.times[indexFrom(over.times, time)] !== time) gone += 1
          return false
        })
      })
      if (gone >= limit) break
    }
    return gone
  }

  get #few(): number {
    return Math.max(1, this.#size >> 3)
  }

  /** Returns how many rows are missing for another chunk; -1 when more work is left. */
  #packNewest(series: number, last: number | undefined): number {
    const from = last === undefined ? EVER : last + 1
    const least = this.#size + this.#few
    const count = countRows(this.#db, series, from, NEVER, least)
    if (count < least) return least - count
    const { columns, whole } = readRows(this.#db, series, from, NEVER, MAX_CHUNKS * this.#size)
    const { times } = columns
    if (times.length < least) {
      // the page ended early because of long texts: write smaller chunks, so that later rows get their turn
      if (whole) return least
      deleteRows(this.#db, series, times[0] ?? EVER, times.at(-1) ?? EVER)
      writeChunks(this.#db, series, columns, this.#size)
      return -1
    }
    const rest = this.#chunksOf(series, columns)
    const [first = 0] = times
    deleteRows(this.#db, series, first, (rest.times[0] ?? NEVER) - 1)
    return whole ? least - rest.times.length : -1
  }

  #chunksOf(series: number, columns: Columns): Columns {
    const { length } = columns.times
    const count = Math.floor((length - this.#few) / this.#size) * this.#size
    writeChunks(this.#db, series, slice(columns, 0, count), this.#size)
    return slice(columns, count, length)
  }

  /** Moves late rows, which lie within or between chunks. Returns how many are left. */
  #packLate(series: number, last: number): number {
    const most = MAX_CHUNKS * this.#size
    let left = 0
    let from = EVER
    for (;;) {
      const first = extentOfRows(this.#db, series, from, last)?.first
      if (first === undefined) return left
      const [chunk] = chunksWithin(this.#db, series, first, NEVER)
      if (chunk === undefined) return left
      const isBeside = first >= chunk.first
      const { columns, whole } = readRows(this.#db, series, first, isBeside ? chunk.last : chunk.first - 1, most)
      const { length } = columns.times
      const end = columns.times[length - 1] ?? first
      const least = isBeside ? Math.max(1, this.#size >> 4) : this.#size
      if (length >= least || !whole) {
        deleteRows(this.#db, series, first, end)
        if (isBeside) this.#rewrite(chunk, (older) => merged(older, columns))
        else writeChunks(this.#db, series, columns, this.#size)
      } else left += length
      from = whole ? (isBeside ? chunk.last : chunk.first - 1) + 1 : end + 1
    }
  }

  #rewrite(chunk: StoredChunk, change: (columns: Columns) => Columns): void {
    const before = chunk.columns(this.#db)
    const after = change(before)
    if (after === before) return
    deleteChunk(this.#db, chunk.key)
    if (after.times.length > 0) writeChunks(this.#db, chunk.series, after, this.#size)
  }
}

const EXPIRED_ROWS = `
  SELECT e.series, e.time FROM main.samples AS e CROSS JOIN main.series AS s ON s.key = e.series
  WHERE e.expires <= ? AND s.tenant = ? LIMIT 0 + ?`

/** number of counters; further series share counters, and the series being written when the count is due is checked */
const MAX_SERIES = 4_194_304

/** Counts the rows written to each series since it was last checked for a new chunk. */
export class WrittenRows {
  // four bytes per series, since there may be millions of rarely written series
  #rows = new Int32Array(1_024)

  /** Adds to a count and returns the new count. */
  add(series: number, rows: number): number {
    const index = series % MAX_SERIES
    if (index >= this.#rows.length) this.#grow(index)
    const now = (this.#rows[index] ?? 0) + rows
    this.#rows[index] = now
    return now
  }

  /** Restarts a count, so that it reaches zero after `rows` more rows. */
  lookAfter(series: number, rows: number): void {
    this.#rows[series % MAX_SERIES] = -rows
  }

  clear(): void {
    this.#rows = new Int32Array(1_024)
  }

  #grow(index: number): void {
    const larger = new Int32Array(Math.min(MAX_SERIES, Math.max(index + 1, this.#rows.length * 2)))
    larger.set(this.#rows)
    this.#rows = larger
  }
}
