/** Counts the rows written to each series since it was last checked for a new chunk. */

/** number of counters; further series share counters, and the series being written when the count is due is checked */
const MAX_SERIES = 4_194_304

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
