/** Adds folded samples to chunks: a few as a small chunk, many together with the small chunks of their series. */
import {
  chunkRow,
  CHUNK_COLUMNS,
  chunksWithin,
  deleteChunk,
  deleteSmallChunks,
  dueChunks,
  dueSeries,
  findShortTail,
  INSERT_CHUNK,
  lastInChunks,
  piecesOf,
  replaceChunk,
  smallChunks,
  smallColumns,
  type StoredChunk,
  writeChunks,
} from './chunks.ts'
import {
  charactersOf,
  type Columns,
  filtered,
  indexFrom,
  joinedColumns,
  living,
  merged,
  NO_SAMPLES,
  slice,
} from './columns.ts'
import type { Database } from './database.ts'
import { InsertRows } from './insert-rows.ts'

/** maximum number of late samples of a series in small chunks, counted in chunks, and of their characters */
const MAX_CHUNKS = 4
const MAX_CHARACTERS = 4 * 1024 * 1024
const [EVER, NEVER] = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]

export class ChunkCompactor {
  readonly #db: Database
  readonly #size: number
  readonly #small: InsertRows
  readonly #written = new WrittenSamples()

  /** `size`: number of samples in a full chunk */
  constructor(db: Database, size: number) {
    this.#db = db
    this.#size = size
    this.#small = new InsertRows(db, INSERT_CHUNK, CHUNK_COLUMNS)
  }

  /** Adds newer samples of some series, each ordered by time. */
  append(added: Iterable<readonly [series: number, columns: Columns]>): void {
    const small: (readonly [series: number, columns: Columns])[] = []
    for (const [series, columns] of added) {
      // reading a chunk costs more than reading its few samples
      const weight = Math.max(columns.times.length, this.#few >> 5)
      if (this.#written.add(series, weight) >= this.#few) this.#pack(series, columns)
      else for (const piece of piecesOf(columns, this.#size)) small.push([series, piece])
    }
    this.#writeSmall(small)
  }

  /** Drops cached counts; call after a failed transaction. */
  forget(): void {
    this.#written.clear()
  }

  remove(series: number, from: number, until: number): void {
    for (const chunk of [
      ...smallChunks(this.#db, series, from, until),
      ...chunksWithin(this.#db, series, from, until),
    ]) {
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
    let gone = 0
    for (;;) {
      const due = dueSeries(this.#db, tenant, now)
      if (due.length === 0) return gone
      for (const series of due) {
        // first, since a small chunk may hide samples, which must not become visible again
        gone += this.#pack(series, NO_SAMPLES, now)
        for (const chunk of dueChunks(this.#db, series, now)) {
          gone += this.#rewrite(chunk, (columns) => living(columns, now))
          if (gone >= limit) return gone
        }
      }
    }
  }

  get #few(): number {
    return Math.max(1, this.#size >> 3)
  }

  /**
   * Merges the small chunks of a series and newer samples into chunks. What is too little stays in small chunks.
   * `now`: merges all late samples, and deletes expired ones. Returns the number of deleted samples.
   */
  #pack(series: number, newer: Columns, now?: number): number {
    const small = smallChunks(this.#db, series, EVER, NEVER)
    const all = merged(smallColumns(this.#db, small, EVER, NEVER), newer)
    if (all.times.length === 0) return 0
    deleteSmallChunks(this.#db, series)
    const last = lastInChunks(this.#db, series)
    const end = last === undefined ? 0 : indexFrom(all.times, last + 1)
    const added = slice(all, end, all.times.length)
    const fresh = now === undefined ? added : living(added, now)
    const late = this.#packLate(series, slice(all, 0, end), now)
    const isMany = fresh.times.length >= this.#few
    if (isMany) this.#addChunk(series, fresh)
    const left = isMany ? late.left : joinedColumns([late.left, fresh])
    this.#writeSmall(piecesOf(left, this.#size).map((piece) => [series, piece]))
    // wait for as many samples as are left, so that the total work stays linear in the number of late samples
    this.#written.lookAfter(series, Math.max(0, left.times.length - this.#few))
    return late.gone + added.times.length - fresh.times.length
  }

  /** Merges the short chunks at the end once they suffice for a full one, so that each sample is written at most twice. */
  #addChunk(series: number, columns: Columns): void {
    const { from, count } = findShortTail(this.#db, series, this.#size)
    if (count + columns.times.length < this.#size) return writeChunks(this.#db, series, columns, this.#size)
    const short = from === undefined ? [] : [...chunksWithin(this.#db, series, from, NEVER)]
    for (const { key } of short) deleteChunk(this.#db, key)
    const parts = short.map((chunk) => chunk.columns(this.#db))
    writeChunks(this.#db, series, joinedColumns([...parts, columns]), this.#size)
  }

  /** Writes samples within or between chunks, except where they are few. */
  #packLate(series: number, late: Columns, now: number | undefined): { readonly left: Columns; readonly gone: number } {
    const { length } = late.times
    const isAll = now !== undefined || length >= MAX_CHUNKS * this.#size || charactersOf(late) > MAX_CHARACTERS
    const left: Columns[] = []
    let gone = 0
    for (let start = 0; start < length;) {
      const time = late.times[start] ?? 0
      const [chunk] = chunksWithin(this.#db, series, time, NEVER)
      if (chunk === undefined) break
      const isBeside = time >= chunk.first
      const end = indexFrom(late.times, isBeside ? chunk.last + 1 : chunk.first)
      const part = slice(late, start, end)
      start = end
      if (!isAll && part.times.length < (isBeside ? Math.max(1, this.#size >> 4) : this.#size)) left.push(part)
      else if (isBeside) {
        const whole = merged(chunk.columns(this.#db), part)
        gone += this.#rewrite(chunk, () => (now === undefined ? whole : living(whole, now)), whole)
      } else {
        const alive = now === undefined ? part : living(part, now)
        gone += part.times.length - alive.times.length
        if (alive.times.length > 0) writeChunks(this.#db, series, alive, this.#size)
      }
    }
    return { left: joinedColumns(left), gone }
  }

  /** Returns the number of samples by which the chunk becomes smaller. */
  #rewrite(chunk: StoredChunk, change: (columns: Columns) => Columns, before = chunk.columns(this.#db)): number {
    const after = change(before)
    const count = after.times.length
    if (count === 0) deleteChunk(this.#db, chunk.key)
    // a small chunk keeps its key, which orders it among the others
    else if (chunk.isSmall) replaceChunk(this.#db, chunk.key, chunk.series, after)
    else {
      deleteChunk(this.#db, chunk.key)
      writeChunks(this.#db, chunk.series, after, this.#size)
    }
    return before.times.length - count
  }

  #writeSmall(small: readonly (readonly [series: number, columns: Columns])[]): void {
    this.#small.run(small.length, (row, values, at) => {
      const [series, columns] = small[row] ?? [0, NO_SAMPLES]
      chunkRow(series, columns, true, values, at)
    })
  }
}

/** number of counters; further series share counters, and the series being written when the count is due is checked */
const MAX_SERIES = 4_194_304

/** Counts the samples written to each series since its small chunks were last merged. */
export class WrittenSamples {
  // four bytes per series, since there may be millions of rarely written series
  #samples = new Int32Array(1_024)

  /** Adds to a count and returns the new count. */
  add(series: number, samples: number): number {
    const index = series % MAX_SERIES
    if (index >= this.#samples.length) this.#grow(index)
    const now = (this.#samples[index] ?? 0) + samples
    this.#samples[index] = now
    return now
  }

  /** Restarts a count, so that it reaches zero after `samples` more samples. */
  lookAfter(series: number, samples: number): void {
    this.#samples[series % MAX_SERIES] = -samples
  }

  clear(): void {
    this.#samples = new Int32Array(1_024)
  }

  #grow(index: number): void {
    const larger = new Int32Array(Math.min(MAX_SERIES, Math.max(index + 1, this.#samples.length * 2)))
    larger.set(this.#samples)
    this.#samples = larger
  }
}
