/**
 * Samples as a reader sees them: the folded ones, and over them those that arrived since. These are few; they are copied
 * into a table of the connection's own that is keyed as the folded ones are.
 */
import type { SampleValue } from '../series.ts'
import type { Database } from './database.ts'
import { InsertRows } from './insert-rows.ts'
import { CODE, putSample, SAMPLE, SAMPLE_COLUMNS, seriesOfCode, storedBlocks, TIME } from './sample-block.ts'

/** `other` is a text, or a truth value as 0 or 1. */
export type StoredValue = readonly [value: number | null, other: string | number | null]

export function valueOf(value: number | null, other: string | number | null): SampleValue {
  if (value !== null) return value
  return typeof other === 'number' ? other === 1 : (other ?? '')
}

/** A series that is asked about, and the place of its resource in the question. */
export interface RequestedSeries {
  readonly place: number
  readonly key: number
}

/** Those that there are of a metric; resources without repeats, by code point. */
export function seriesOf(
  db: Database,
  tenant: string,
  resources: readonly string[],
  metric: string,
): readonly RequestedSeries[] {
  const sql = 'SELECT key FROM series WHERE tenant = ? AND resource = ? AND metric = ?'
  return resources.flatMap((resource, place) => {
    const [key] = db.row<[number]>(sql, tenant, resource, metric) ?? []
    return key === undefined ? [] : [{ place, key }]
  })
}

/** To be called once for a connection. */
export function prepareSampleViews(db: Database): void {
  db.exec(`
    CREATE TEMP TABLE asked (place INTEGER PRIMARY KEY, series INTEGER NOT NULL UNIQUE) STRICT;
    CREATE TEMP TABLE newer (
      series INTEGER NOT NULL, time INTEGER NOT NULL, value REAL, other ANY, expires INTEGER, PRIMARY KEY (series, time)
    ) STRICT, WITHOUT ROWID;
    CREATE TEMP TABLE span (first INTEGER NOT NULL, last INTEGER NOT NULL) STRICT;`)
}

/** The samples of some series in a range of time. Good until the caller's transaction ends or another view is opened. */
export class SampleView {
  readonly #asked: readonly RequestedSeries[]
  readonly #newer: Span | undefined

  private constructor(asked: readonly RequestedSeries[], newer: Span | undefined) {
    this.#asked = asked
    this.#newer = newer
  }

  /** Both ends are included. */
  static open(db: Database, asked: readonly RequestedSeries[], from: number, until: number): SampleView {
    db.run('DELETE FROM temp.asked')
    for (const { place, key } of asked) db.run('INSERT INTO temp.asked VALUES (?, ?)', place, key)
    db.run('DELETE FROM temp.newer')
    return new SampleView(asked, copyNewer(db, new Set(asked.map(({ key }) => key)), from, until))
  }

  get pooled(): boolean {
    return this.#asked.length > 1
  }

  /**
   * A SELECT of time, place, value, other and expires. Its values: ?1 and ?2 the range of time, both included, ?3 now, ?4
   * what `firstPlace` gives.
   */
  sql(from: number, until: number): string {
    const newer = this.#newer
    const isMerged = newer !== undefined && newer.first <= until && newer.last >= from
    return viewSql(this.pooled ? '>=' : '=', isMerged)
  }

  get firstPlace(): number {
    return this.#asked[0]?.place ?? 0
  }

  /** The same at any time of the one series at the place ?4. It comes ordered by time out of its table, where several are sorted. */
  get oneSql(): string {
    return viewSql('=', this.#newer !== undefined)
  }
}

/** Both included. */
interface Span {
  first: number
  last: number
}

/** In the order of arrival, so that the last of two at the same time stays. Gives their span of time. */
function copyNewer(db: Database, asked: ReadonlySet<number>, from: number, until: number): Span | undefined {
  if (asked.size === 0) return undefined
  const span: Span = { first: Number.POSITIVE_INFINITY, last: Number.NEGATIVE_INFINITY }
  const rows = new InsertRows(db, 'INSERT OR REPLACE INTO temp.newer VALUES', SAMPLE_COLUMNS)
  for (const block of storedBlocks(db)) {
    const { samples } = block
    const places: number[] = []
    for (let at = 0; at < samples.length; at += SAMPLE) {
      const time = samples[at + TIME] ?? 0
      if (time < from || time > until || !asked.has(seriesOfCode(samples[at + CODE] ?? 0))) continue
      places.push(at / SAMPLE)
      span.first = Math.min(span.first, time)
      span.last = Math.max(span.last, time)
    }
    rows.run(places.length, (row, values, at) => putSample(block, places[row] ?? 0, values, at))
  }
  if (span.first > span.last) return undefined
  db.run('DELETE FROM temp.span')
  db.run('INSERT INTO temp.span VALUES (?, ?)', span.first, span.last)
  return span
}

/** Newer ones mostly lie behind all others, which are then not looked for one by one. */
const SHOWN = `(
  s.time < (SELECT first FROM temp.span) OR s.time > (SELECT last FROM temp.span)
  OR NOT EXISTS (SELECT 1 FROM temp.newer AS n WHERE n.series = s.series AND n.time = s.time))`

function viewSql(places: '=' | '>=', merged: boolean): string {
  const part = (table: string, more: string): string => `
    SELECT s.time AS time, a.place AS place, s.value AS value, s.other AS other, s.expires AS expires
    FROM temp.asked AS a CROSS JOIN ${table} AS s
    WHERE a.place ${places} ?4 AND s.series = a.series AND s.time >= ?1 AND s.time <= ?2
      AND (s.expires IS NULL OR s.expires > ?3)${more}`
  return merged
    ? `${part('main.samples', ` AND ${SHOWN}`)} UNION ALL ${part('temp.newer', '')}`
    : part('main.samples', '')
}
