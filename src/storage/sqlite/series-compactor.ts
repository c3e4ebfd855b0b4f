/**
 * Moves samples from the order of their arrival into the order of series and time, in slices between batches. A slice
 * copies; only when all are copied are the originals deleted. Readers prefer the originals all the while, so they see no
 * difference, and a crash in between costs only that it begins again.
 */
import type { Database } from './database.ts'
import { InsertRows } from './insert-rows.ts'
import { putSample, SAMPLE, SAMPLE_COLUMNS, storedBlocks, type SampleBlock } from './sample-block.ts'
import { sortSamples, type SortedSamples } from './sort-samples.ts'

const SLICE_ROWS = 10_000
/** samples of one fold, about: they are held in memory */
const MAX_SAMPLES = 500_000

interface Fold extends SortedSamples {
  /** the last block that it has */
  readonly upTo: number
  /** samples of its order that are copied */
  done: number
}

export class SeriesCompactor {
  readonly #db: Database
  readonly #rows: InsertRows
  #fold: Fold | undefined

  constructor(db: Database) {
    this.#db = db
    this.#rows = new InsertRows(db, 'INSERT INTO samples VALUES', SAMPLE_COLUMNS, OVERWRITE)
  }

  /** True while a fold is under way. */
  get active(): boolean {
    return this.#fold !== undefined
  }

  /** Does a slice, the first of a new fold when none is under way. */
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
      // Whatever was copied will be copied again; nothing was deleted.
      this.#fold = undefined
      throw error
    }
    fold.done = until
    if (until === fold.order.length) this.#fold = undefined
  }

  /** Folds all that has arrived, inside the transaction of the caller. */
  all(): void {
    this.#fold = undefined
    for (let fold = this.#begin(); fold !== undefined; fold = this.#begin()) {
      this.#copy(fold, 0, fold.order.length)
      this.#forget(fold)
    }
  }

  /** Undefined when nothing has arrived. */
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

  #copy(fold: Fold, from: number, until: number): void {
    const { order } = fold
    this.#rows.run(until - from, (row, values, at) => putSample(fold, order[from + row] ?? 0, values, at))
  }

  #forget({ upTo }: Fold): void {
    this.#db.run('DELETE FROM arrivals WHERE key <= ?', upTo)
  }
}

/** The later of two at the same series and time is written over the earlier. */
const OVERWRITE =
  'ON CONFLICT (series, time) DO UPDATE SET value = excluded.value, other = excluded.other, expires = excluded.expires'
