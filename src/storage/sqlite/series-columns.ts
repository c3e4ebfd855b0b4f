/** Reads the samples of one series in order of time, merged from chunks, rows and unfolded samples. */
import { chunksWithin } from './chunks.ts'
import { between, ColumnsBuilder, inOrder, living, merged, NO_SAMPLES, type Columns } from './columns.ts'
import type { Database } from './database.ts'
import { CODE, EXPIRES, kindOfCode, SAMPLE, seriesOfCode, storedBlocks, TIME, VALUE } from './sample-block.ts'
import { extentOfRows, readRows } from './sample-rows.ts'

/** rows per read */
const PAGE = 1_000

/** A range of times, both ends included. */
export interface Span {
  readonly from: number
  readonly until: number
  readonly descending?: boolean
  /** epoch ms; samples that expire by then are left out */
  readonly now: number
  /** rows per read, when few are enough */
  readonly page?: number
}

/** Returns the unfolded samples of some series in a range; both ends are included. */
export function arrivedOf(
  db: Database,
  keys: ReadonlySet<number>,
  from: number,
  until: number,
): ReadonlyMap<number, Columns> {
  const builders = new Map<number, ColumnsBuilder>()
  if (keys.size === 0) return new Map()
  for (const block of storedBlocks(db)) {
    const { samples } = block
    for (let at = 0; at < samples.length; at += SAMPLE) {
      const time = samples[at + TIME] ?? 0
      if (time < from || time > until) continue
      const code = samples[at + CODE] ?? 0
      const series = seriesOfCode(code)
      if (!keys.has(series)) continue
      let builder = builders.get(series)
      if (builder === undefined) builders.set(series, (builder = new ColumnsBuilder()))
      const kind = kindOfCode(code)
      builder.put(time, kind, samples[at + VALUE] ?? 0, kind === 0 ? [] : block.words, samples[at + EXPIRES])
    }
  }
  return new Map([...builders].map(([series, builder]) => [series, inOrder(builder.columns())]))
}

/** Yields the samples in parts, each ascending and not empty. When `descending`, the parts come in reverse order. */
export function* columnsOf(db: Database, series: number, newer: Columns | undefined, span: Span): Generator<Columns> {
  const over = new Overlay(db, series, newer ?? NO_SAMPLES, span)
  const { from, until, descending = false, now } = span
  let [low, high] = [from, until]
  for (const chunk of chunksWithin(db, series, from, until, descending)) {
    const { first, last } = chunk
    if (descending) yield* over.pages(last + 1, high)
    else yield* over.pages(low, first - 1)
    const [start, end] = [Math.max(first, from), Math.min(last, until)]
    const seen = living(merged(between(chunk.columns(db), start, end), over.all(start, end)), now)
    if (seen.times.length > 0) yield seen
    if (descending) high = first - 1
    else low = last + 1
  }
  yield* over.pages(low, high)
}

/** The samples that override chunks: rows, and unfolded samples that override rows. */
class Overlay {
  readonly #db: Database
  readonly #series: number
  readonly #newer: Columns
  readonly #descending: boolean
  readonly #now: number
  readonly #page: number
  /** first and last time of the rows; undefined for most ranges, which have no rows */
  readonly #rows: { readonly first: number; readonly last: number } | undefined

  constructor(
    db: Database,
    series: number,
    newer: Columns,
    { from, until, descending = false, now, page = PAGE }: Span,
  ) {
    this.#db = db
    this.#series = series
    this.#newer = newer
    this.#descending = descending
    this.#now = now
    this.#page = page
    this.#rows = extentOfRows(db, series, from, until)
  }

  /** Returns all overriding samples in a range, including expired ones, since they hide older samples. */
  all(from: number, until: number): Columns {
    let columns = NO_SAMPLES
    if (this.#hasRows(from, until)) {
      for (let at = from; at <= until;) {
        const { columns: page, whole } = readRows(this.#db, this.#series, at, until, PAGE)
        columns = merged(columns, page)
        if (whole) break
        at = (page.times.at(-1) ?? until) + 1
      }
    }
    return merged(columns, between(this.#newer, from, until))
  }

  *pages(from: number, until: number): Generator<Columns> {
    let [low, high] = [from, until]
    let isWhole = !this.#hasRows(from, until)
    while (low <= high) {
      let page = NO_SAMPLES
      if (!isWhole) {
        const read = readRows(this.#db, this.#series, low, high, this.#page, this.#descending)
        page = read.columns
        isWhole = read.whole
      }
      // last time on this page of rows
      const edge = isWhole ? undefined : this.#descending ? page.times[0] : page.times.at(-1)
      const [start, end] = [this.#descending ? (edge ?? low) : low, this.#descending ? high : (edge ?? high)]
      const seen = living(merged(page, between(this.#newer, start, end)), this.#now)
      if (seen.times.length > 0) yield seen
      if (this.#descending) high = start - 1
      else low = end + 1
    }
  }

  #hasRows(from: number, until: number): boolean {
    return this.#rows !== undefined && this.#rows.first <= until && this.#rows.last >= from
  }
}
