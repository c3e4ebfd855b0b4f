/**
 * Moves samples from the order of their arrival into the order of series and time, in slices between batches. A slice
 * copies; only when all are copied are the originals deleted. Readers prefer the originals all the while, so they see no
 * difference, and a crash in between costs only that it begins again.
 */
import type { Database } from './database.ts'

const SLICE_ROWS = 10_000

interface Slice {
  readonly first: number
  readonly last: number
}

export class SeriesFold {
  readonly #db: Database
  #slices: Slice[] = []
  #upTo = 0

  constructor(db: Database) {
    this.#db = db
  }

  /** True while a fold is under way. */
  get active(): boolean {
    return this.#upTo > 0
  }

  /**
   * Does a slice, the first of a new fold when none is under way. Undefined while more slices are to do; at the end of the
   * fold, how many samples have arrived meanwhile.
   */
  step(): number | undefined {
    if (!this.active) this.#begin()
    try {
      return this.#db.transaction(() => this.#slice())
    } catch (error) {
      // Whatever was copied will be copied again; nothing was deleted.
      this.#upTo = 0
      throw error
    }
  }

  /** Folds all that has arrived, inside the transaction of the caller. */
  all(): void {
    this.#upTo = 0
    this.#db.run(`${COPY} WHERE TRUE ORDER BY series, time, key ${OVERWRITE}`)
    this.#db.run('DELETE FROM arrived')
  }

  /** Series with few samples share a slice. */
  #begin(): void {
    this.#upTo = this.#db.row<[number | null]>('SELECT max(key) FROM arrived')?.[0] ?? 0
    this.#slices = []
    let rows = 0
    let first: number | undefined
    const counts = this.#db.rows<[number, number]>(
      'SELECT series, count(*) FROM arrived WHERE key <= ? GROUP BY series ORDER BY series',
      this.#upTo,
    )
    for (const [place, [series, count]] of counts.entries()) {
      first ??= series
      rows += count
      if (rows < SLICE_ROWS && place < counts.length - 1) continue
      this.#slices.push({ first, last: series })
      first = undefined
      rows = 0
    }
  }

  #slice(): number | undefined {
    const slice = this.#slices.shift()
    if (slice !== undefined) {
      const { first, last } = slice
      const sql = `${COPY} WHERE key <= ? AND series BETWEEN ? AND ? ORDER BY series, time, key ${OVERWRITE}`
      this.#db.run(sql, this.#upTo, first, last)
    }
    if (this.#slices.length > 0) return undefined
    this.#db.run('DELETE FROM arrived WHERE key <= ?', this.#upTo)
    this.#upTo = 0
    return this.#db.row<[number]>('SELECT count(*) FROM arrived')?.[0] ?? 0
  }
}

const COPY = 'INSERT INTO samples SELECT series, time, value, other, expires FROM arrived'
/** The later of two at the same series and time is written over the earlier. */
const OVERWRITE =
  'ON CONFLICT (series, time) DO UPDATE SET value = excluded.value, other = excluded.other, expires = excluded.expires'
