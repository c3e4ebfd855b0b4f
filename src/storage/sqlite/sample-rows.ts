/** Reads and writes rows of `samples`: the samples outside of chunks, because they are few or late. */
import { ColumnsBuilder, expiryAt, NO_SAMPLES, storedAt, type Columns } from './columns.ts'
import type { Database, SqlValue } from './database.ts'
import { InsertRows } from './insert-rows.ts'
import { SAMPLE_COLUMNS, sumOfSample } from './sample-block.ts'
import { damagedSamples } from './series-names.ts'

type Row = readonly [
  series: number,
  time: number,
  value: number | null,
  other: string | number | null,
  expires: number | null,
  sum: number,
]

/** approximate most characters of texts in memory at once */
const MAX_CHARACTERS = 4 * 1024 * 1024
/** number of rows that are read at once whatever their size */
const FEW = 1_000

export interface RowsRead {
  readonly columns: Columns
  /** false when there may be more rows */
  readonly whole: boolean
}

/** Both ends included; ascending; from the end when `descending`; fewer rows when texts are long. */
export function readRows(
  db: Database,
  series: number,
  from: number,
  until: number,
  limit: number,
  descending = false,
): RowsRead {
  if (from > until) return { columns: NO_SAMPLES, whole: true }
  const most = limit <= FEW || charactersOf(db, series, from, until, limit, descending) <= MAX_CHARACTERS ? limit : FEW
  const rows = db.rows<Row>(descending ? DOWN : UP, series, from, until, most)
  if (rows.length === 0) return { columns: NO_SAMPLES, whole: true }
  if (descending) rows.reverse()
  const builder = new ColumnsBuilder(rows.length)
  for (const row of rows) {
    const [, time, value, other, expires, sum] = row
    if (sumOfSample(row, 0) !== sum) throw damagedSamples(db, series, time, time)
    builder.add(time, value, other, expires)
  }
  return { columns: builder.columns(), whole: rows.length < most }
}

function charactersOf(db: Database, series: number, from: number, until: number, limit: number, down: boolean): number {
  const sql = `SELECT total(length(other)) FROM (${down ? DOWN : UP})`
  return db.row<[number]>(sql, series, from, until, limit)?.[0] ?? 0
}

export function countRows(db: Database, series: number, from: number, until: number, limit: number): number {
  return db.row<[number]>(COUNT, series, from, until, limit)?.[0] ?? 0
}

export function extentOfRows(
  db: Database,
  series: number,
  from: number,
  until: number,
): { readonly first: number; readonly last: number } | undefined {
  const first = db.row<[number]>(FIRST, series, from, until)?.[0]
  const last = first === undefined ? undefined : db.row<[number]>(LAST, series, from, until)?.[0]
  return first === undefined || last === undefined ? undefined : { first, last }
}

export function deleteRows(db: Database, series: number, from: number, until: number): void {
  db.run('DELETE FROM main.samples WHERE series = ? AND time >= ? AND time <= ?', series, from, until)
}

export class RowWriter {
  readonly #rows: InsertRows

  constructor(db: Database) {
    this.#rows = new InsertRows(db, 'INSERT INTO main.samples VALUES', SAMPLE_COLUMNS, OVERWRITE)
  }

  write(series: number, columns: Columns): void {
    this.#rows.run(columns.times.length, (row, values: SqlValue[], at) => {
      const [value, other] = storedAt(columns, row)
      values[at] = series
      values[at + 1] = columns.times[row] ?? 0
      values[at + 2] = value
      values[at + 3] = other
      values[at + 4] = expiryAt(columns, row) ?? null
      values[at + 5] = sumOfSample(values, at)
    })
  }
}

/** SQL that lets the later of two samples for the same series and time win. */
export const OVERWRITE =
  'ON CONFLICT (series, time) DO UPDATE SET value = excluded.value, other = excluded.other, expires = excluded.expires, sum = excluded.sum'
const READ = 'series, time, value, other, expires, sum'
const SOME = 'FROM main.samples WHERE series = ? AND time >= ? AND time <= ?'
const UP = `SELECT ${READ} ${SOME} ORDER BY time LIMIT 0 + ?`
const DOWN = `SELECT ${READ} ${SOME} ORDER BY time DESC LIMIT 0 + ?`
const COUNT = `SELECT count(*) FROM (SELECT 1 ${SOME} LIMIT 0 + ?)`
const FIRST = `SELECT time ${SOME} ORDER BY time LIMIT 1`
const LAST = `SELECT time ${SOME} ORDER BY time DESC LIMIT 1`
