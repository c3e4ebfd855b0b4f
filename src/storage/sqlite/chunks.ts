/**
 * Reads and writes the chunks of series.db: samples of one series as one blob of columns. A full chunk has about a
 * thousand samples; a small chunk has few, or late ones, until they are merged.
 *
 * CHUNK-1 chunks of one series do not overlap, except small ones
 * CHUNK-2 at equal times a small chunk wins over others, and the newer of two small chunks over the older
 */
import { between, charactersOf, inOrder, joinedColumns, slice, withOwnWords, type Columns } from './columns.ts'
import { sumOf } from './checksum.ts'
import type { Database, SqlValue } from './database.ts'
import { damagedSamples } from './series-names.ts'

const [STEADY, WIDE, MIXED, EXPIRING] = [1, 2, 4, 8] as const
/** approximate most characters of the texts in a chunk, which are always read with it */
const MAX_CHARACTERS = 256 * 1024
/** number of ms that fit into 32 bits */
const NARROW = 2 ** 32

/** a chunk is rewritten once this fraction of its samples (1/n) has expired, to limit writes */
const EXPIRED_PART = 8

type Row = readonly [
  key: number,
  small: number,
  first: number,
  last: number,
  count: number,
  form: number,
  samples: Uint8Array<ArrayBuffer>,
  words: string | null,
  sum: number,
]

export class StoredChunk {
  readonly key: number
  readonly series: number
  readonly isSmall: boolean
  /** time of the first sample and of the last */
  readonly first: number
  readonly last: number
  readonly #row: Row

  constructor(series: number, row: Row) {
    const [key, small, first, last] = row
    this.key = key
    this.series = series
    this.isSmall = small === 1
    this.first = first
    this.last = last
    this.#row = row
  }

  columns(db: Database): Columns {
    const [, small, first, last, count, form, samples, words, sum] = this.#row
    if (sumOf([this.series, small, first, last, count, form], samples, words) !== sum) {
      throw damagedSamples(db, this.series, first, last)
    }
    return columnsOf(this.#row)
  }
}

function columnsOf([, , first, last, count, form, bytes, words]: Row): Columns {
  const { buffer, byteOffset } = bytes.byteOffset % 8 === 0 ? bytes : new Uint8Array(bytes)
  let at = byteOffset
  const wide = (): Float64Array<ArrayBuffer> => {
    const column = new Float64Array(buffer, at, count)
    at += column.byteLength
    return column
  }
  const values = wide()
  const expires = (form & EXPIRING) === 0 ? undefined : wide()
  let times: Float64Array<ArrayBuffer>
  if ((form & WIDE) !== 0) times = wide()
  else {
    times = new Float64Array(count)
    if ((form & STEADY) !== 0) {
      const step = count === 1 ? 0 : (last - first) / (count - 1)
      for (let i = 0; i < count; i += 1) times[i] = first + i * step
    } else {
      const offsets = new Uint32Array(buffer, at, count)
      at += offsets.byteLength
      for (let i = 0; i < count; i += 1) times[i] = first + (offsets[i] ?? 0)
    }
  }
  const kinds = (form & MIXED) === 0 ? undefined : new Uint8Array(buffer, at, count)
  return { times, values, kinds, words: words === null ? [] : (JSON.parse(words) as readonly string[]), expires }
}

/** Fills in a row of chunks from the second column on. */
export function chunkRow(series: number, columns: Columns, isSmall: boolean, row: SqlValue[], at: number): void {
  const { times, values, kinds, words, expires } = columns
  const count = times.length
  const small = isSmall ? 1 : 0
  const [first, last] = [times[0] ?? 0, times[count - 1] ?? 0]
  const isSteady = hasOneStep(times)
  const isWide = !isSteady && last - first >= NARROW
  const form = (isSteady ? STEADY : 0) | (isWide ? WIDE : 0) | (kinds ? MIXED : 0) | (expires ? EXPIRING : 0)
  const parts: ArrayBufferView[] = [values]
  if (expires !== undefined) parts.push(expires)
  if (isWide) parts.push(times)
  else if (!isSteady) parts.push(since(first, times))
  if (kinds !== undefined) parts.push(kinds)
  const text = words.length === 0 ? null : JSON.stringify(words)
  const samples = joined(parts)
  row[at] = series
  row[at + 1] = small
  row[at + 2] = first
  row[at + 3] = last
  row[at + 4] = count
  row[at + 5] = form
  row[at + 6] = dueOf(expires)
  row[at + 7] = samples
  row[at + 8] = text
  row[at + 9] = sumOf([series, small, first, last, count, form], samples, text)
}

export const CHUNK_COLUMNS = 10

/** Writes a chunk that is not small. */
function writeChunk(db: Database, series: number, columns: Columns): void {
  const row: SqlValue[] = []
  chunkRow(series, columns, false, row, 0)
  db.run(`${INSERT_CHUNK} ${ONE_ROW}`, ...row)
}

/** Writes a small chunk in place of another. */
export function replaceChunk(db: Database, key: number, series: number, columns: Columns): void {
  const row: SqlValue[] = [key]
  chunkRow(series, columns, true, row, 1)
  db.run(REPLACE, ...row)
}

/** At least `size` and fewer than twice as many samples, except when texts are long or samples too few. */
export function writeChunks(db: Database, series: number, columns: Columns, size: number): void {
  for (const piece of piecesOf(columns, size)) writeChunk(db, series, piece)
}

export function piecesOf(columns: Columns, size: number): readonly Columns[] {
  const count = columns.times.length
  if (count === 0) return []
  const pieces = Math.max(1, Math.floor(count / size))
  const most = Math.ceil(count / pieces)
  const found: Columns[] = []
  for (let at = 0; at < count; at += most) addPieces(slice(columns, at, Math.min(at + most, count)), found)
  return found
}

function addPieces(columns: Columns, found: Columns[]): void {
  const count = columns.times.length
  // keep only the texts that occur in this piece
  const piece = columns.words.length === 0 ? columns : withOwnWords(columns)
  if (charactersOf(piece) <= MAX_CHARACTERS || count === 1) {
    found.push(piece)
    return
  }
  addPieces(slice(piece, 0, count >> 1), found)
  addPieces(slice(piece, count >> 1, count), found)
}

export function deleteChunk(db: Database, key: number): void {
  db.run('DELETE FROM main.chunks WHERE key = ?', key)
}

export function deleteSmallChunks(db: Database, series: number): void {
  db.run('DELETE FROM main.chunks WHERE series = ? AND small = 1', series)
}

/** Yields the chunks with samples in or around a range, except small ones, a few at a time. Both ends are included. */
export function* chunksWithin(
  db: Database,
  series: number,
  from: number,
  until: number,
  descending = false,
): Generator<StoredChunk> {
  let [low, high] = [from, until]
  // often the first chunk is enough
  for (let limit = 1; ; limit = Math.min(limit * 4, MAX_READ)) {
    const rows = db.rows<Row>(descending ? LAST_FIRST : FIRST_FIRST, series, low, high, limit)
    for (const row of rows) {
      const chunk = new StoredChunk(series, row)
      // chunks do not overlap, so the index is damaged
      if (chunk.last < low || chunk.first > high) throw damagedSamples(db, series, low, high)
      yield chunk
      if (descending) high = chunk.first - 1
      else low = chunk.last + 1
    }
    if (rows.length < limit || low > high) return
  }
}

/** Returns the small chunks with samples in or around a range, oldest first. Both ends are included. */
export function smallChunks(db: Database, series: number, from: number, until: number): readonly StoredChunk[] {
  return db.rows<Row>(SMALL, series, from, until).map((row) => new StoredChunk(series, row))
}

/** Returns the samples of small chunks in a range, ordered by time. `chunks`: oldest first. */
export function smallColumns(db: Database, chunks: readonly StoredChunk[], from: number, until: number): Columns {
  return inOrder(joinedColumns(chunks.map((chunk) => between(chunk.columns(db), from, until))))
}

/** Returns some series of a tenant from whose chunks expired samples should now be removed. */
export function dueSeries(db: Database, tenant: string, now: number): readonly number[] {
  return [...new Set(db.rows<[number]>(DUE_SERIES, now, tenant, DUE_AT_ONCE).map(([series]) => series))]
}

/** Yields the chunks of a series from which expired samples should now be removed. */
export function* dueChunks(db: Database, series: number, now: number): Generator<StoredChunk> {
  for (const [key] of db.rows<[number]>(DUE_CHUNKS, series, now)) {
    const row = db.row<Row>(ONE, key)
    if (row !== undefined) yield new StoredChunk(series, row)
  }
}

/** Returns the time of the last sample in the chunks of a series, except small ones. */
export function lastInChunks(db: Database, series: number): number | undefined {
  return db.row<[number]>(LAST, series, 0)?.[0]
}

/** Returns the time of the last sample in all chunks of a series. */
export function lastInSeries(db: Database, series: number): number | undefined {
  const [last, other] = [lastInChunks(db, series), db.row<[number]>(LAST, series, 1)?.[0]]
  return last === undefined || other === undefined ? (last ?? other) : Math.max(last, other)
}

/** Chunks at the end of a series with fewer than `size` samples each, except small chunks and those with long texts. */
export interface ShortTail {
  /** time of the first sample in these chunks; undefined when there are none */
  readonly from: number | undefined
  /** number of samples in all of these chunks */
  readonly count: number
}

/** Finds the short chunks at the end of a series without reading their blobs. */
export function findShortTail(db: Database, series: number, size: number): ShortTail {
  let from: number | undefined
  let sum = 0
  // one row at a time: most series have few short chunks, and each row takes a page of the file
  const rows = db.statement(NEWEST).iterate(series) as Iterable<unknown> as Iterable<readonly [number, number, number]>
  for (const [first, count, bytes] of rows) {
    if (count >= size || bytes > MAX_CHARACTERS / 4) break
    from = first
    sum += count
  }
  return { from, count: sum }
}

function since(first: number, times: Float64Array): Uint32Array {
  const offsets = new Uint32Array(times.length)
  for (let i = 0; i < times.length; i += 1) offsets[i] = (times[i] ?? 0) - first
  return offsets
}

function hasOneStep(times: Float64Array): boolean {
  const [first = 0, second = first] = times
  const step = second - first
  for (let i = 1; i < times.length; i += 1) if (times[i] !== first + i * step) return false
  return true
}

/** Returns when enough samples will have expired for a rewrite; null for never. */
function dueOf(expires: Float64Array | undefined): number | null {
  if (expires === undefined) return null
  const sorted = expires.filter((expiry) => !Number.isNaN(expiry)).sort()
  return sorted[Math.ceil(expires.length / EXPIRED_PART) - 1] ?? sorted.at(-1) ?? null
}

function joined(parts: readonly ArrayBufferView[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(parts.reduce((sum, { byteLength }) => sum + byteLength, 0))
  let at = 0
  for (const { buffer, byteOffset, byteLength } of parts) {
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), at)
    at += byteLength
  }
  return bytes
}

/** maximum number of chunks read by one statement */
const MAX_READ = 16
const WRITTEN = 'series, small, first, last, count, form, due, samples, words, sum'
export const INSERT_CHUNK = `INSERT INTO main.chunks (${WRITTEN}) VALUES`
const ONE_ROW = '(?, ?, ?, ?, ?, ?, ?, ?, ?, ?)'
const REPLACE = `INSERT OR REPLACE INTO main.chunks (key, ${WRITTEN}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
const DUE_AT_ONCE = 1_000
const DUE_SERIES = `
  SELECT c.series FROM main.chunks AS c CROSS JOIN main.series AS s ON s.key = c.series
  WHERE c.due <= ? AND s.tenant = ? LIMIT 0 + ?`
const DUE_CHUNKS = 'SELECT key FROM main.chunks WHERE series = ? AND due <= ?'
const COLUMNS = 'key, small, first, last, count, form, samples, words, sum'
const ONE = `SELECT ${COLUMNS} FROM main.chunks WHERE key = ?`
const LAST = 'SELECT last FROM main.chunks WHERE series = ? AND small = ? ORDER BY last DESC LIMIT 1'
const SMALL = `
  SELECT ${COLUMNS} FROM main.chunks INDEXED BY chunks_by_time
  WHERE series = ? AND small = 1 AND last >= ? AND first <= ? ORDER BY key`
const NEWEST = `
  SELECT first, count, coalesce(octet_length(words), 0) FROM main.chunks
  WHERE series = ? AND small = 0 ORDER BY last DESC LIMIT ${MAX_READ}`
// Chunks that are not small do not overlap, so the last one in a range is the first that ends at or after its end.
const READ = `
  SELECT ${COLUMNS} FROM main.chunks INDEXED BY chunks_by_time
  WHERE series = ?1 AND small = 0 AND last >= ?2 AND first <= ?3 AND last <= coalesce(
    (SELECT last FROM main.chunks WHERE series = ?1 AND small = 0 AND last >= ?3 ORDER BY last LIMIT 1), ?3)`
const FIRST_FIRST = `${READ} ORDER BY last LIMIT 0 + ?4`
const LAST_FIRST = `${READ} ORDER BY last DESC LIMIT 0 + ?4`
