/**
 * Folds samples from the order of arrival into rows and chunks, in slices between batches.
 * Originals are deleted at the end and win until then, so readers notice nothing, and a crash restarts the fold.
 */
import type { ChunkCompactor } from './chunk-compactor.ts'
import { ColumnsBuilder, type Columns } from './columns.ts'
import type { Database } from './database.ts'
import { InsertRows } from './insert-rows.ts'
import {
  CODE,
  EXPIRES,
  kindOfCode,
  putSample,
  SAMPLE,
  SAMPLE_COLUMNS,
  seriesOfCode,
  storedBlocks,
  TIME,
  VALUE,
  type SampleBlock,
} from './sample-block.ts'
import { OVERWRITE } from './sample-rows.ts'
import { sortSamples, type SortedSamples } from './sort-samples.ts'

const SLICE_ROWS = 10_000
/** approximate most samples in a fold, which are kept in memory */
const MAX_SAMPLES = 500_000

interface Fold extends SortedSamples {
  /** the last block that the fold includes */
  readonly upTo: number
  done: number
}

export class SeriesCompactor {
  readonly #db: Database
  readonly #rows: InsertRows
  readonly #chunks: ChunkCompactor
  #fold: Fold | undefined

  constructor(db: Database, chunks: ChunkCompactor) {
    this.#db = db
    this.#chunks = chunks
    this.#rows = new InsertRows(db, 'INSERT INTO samples VALUES', SAMPLE_COLUMNS, OVERWRITE)
  }

  get active(): boolean {
    return this.#fold !== undefined
  }

  /** Processes one slice, beginning a fold if none is in progress. */
  step(): void {
    const fold = this.#fold ?? this.#begin()
    if (fold === undefined) return
    this.#fold = fold
    const until = Math.min(fold.done + SLICE_ROWS, fold.order.length)
    try {
      this.#db.transaction(() => {
        this.#copy(fold, fold.done, until)
        if (until === fold.order.length) this.#forget(fold)
      })
    } catch (error) {
      // the copies will be made again; nothing was deleted
      this.#fold = undefined
      this.#chunks.forget()
      throw error
    }
    fold.done = until
    if (until === fold.order.length) this.#fold = undefined
  }

  all(): void {
    this.#fold = undefined
    for (let fold = this.#begin(); fold !== undefined; fold = this.#begin()) {
      this.#copy(fold, 0, fold.order.length)
      this.#forget(fold)
    }
  }

  /** Begins a fold; returns undefined when all samples are folded. */
  #begin(): Fold | undefined {
    const blocks: SampleBlock[] = []
    let upTo = 0
    let count = 0
    for (const block of storedBlocks(this.#db)) {
      blocks.push(block)
      upTo = block.key
      count += block.samples.length / SAMPLE
      if (count >= MAX_SAMPLES) break
    }
    return blocks.length === 0 ? undefined : { ...sortSamples(blocks), upTo, done: 0 }
  }

  /** Copies a slice. Series with too few samples for chunks become rows together, many per statement. */
  #copy(fold: Fold, from: number, until: number): void {
    const few: (readonly [series: number, rows: number])[] = []
    let copied = from
    for (let start = from; start < until;) {
      const series = seriesAt(fold, start)
      let end = start + 1
      while (end < until && seriesAt(fold, end) === series) end += 1
      if (end - start >= this.#chunks.many) {
        this.#copyRows(fold, copied, start)
        if (this.#chunks.append(series, columnsOf(fold, start, end))) copied = end
        else copied = start
      }
      if (copied !== end) few.push([series, end - start])
      start = end
    }
    this.#copyRows(fold, copied, until)
    for (const [series, rows] of few) this.#chunks.wrote(series, rows)
  }

  #copyRows(fold: Fold, from: number, until: number): void {
    const { order } = fold
    this.#rows.run(until - from, (row, values, at) => putSample(fold, order[from + row] ?? 0, values, at))
  }

  #forget({ upTo }: Fold): void {
    this.#db.run('DELETE FROM arrivals WHERE key <= ?', upTo)
  }
}

function seriesAt({ samples, order }: Fold, at: number): number {
  return seriesOfCode(samples[(order[at] ?? 0) * SAMPLE + CODE] ?? 0)
}

function columnsOf({ samples, words, order }: Fold, start: number, end: number): Columns {
  const builder = new ColumnsBuilder(end - start)
  for (let at = start; at < end; at += 1) {
    const offset = (order[at] ?? 0) * SAMPLE
    const kind = kindOfCode(samples[offset + CODE] ?? 0)
    builder.put(samples[offset + TIME] ?? 0, kind, samples[offset + VALUE] ?? 0, words, samples[offset + EXPIRES])
  }
  return builder.columns()
}
