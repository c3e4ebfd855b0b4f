/** Rows of each series since its last check for a chunk. */

/** counters; series beyond share one, and the one that is written when it is due is checked */
const MAX_SERIES = 4_194_304

export class WrittenRows {
  // four bytes a series: there may be millions, each written now and then
  #rows = new Int32Array(1_024)

  /** Returns the new count. */
  add(series: number, rows: number): number {
    const place = series % MAX_SERIES
    if (place >= this.#rows.length) this.#grow(place)
    const now = (this.#rows[place] ?? 0) + rows
    this.#rows[place] = now
    return now
  }

  /** Restarts the count, after so many more rows. */
  lookAfter(series: number, rows: number): void {
    this.#rows[series % MAX_SERIES] = -rows
  }

  clear(): void {
    this.#rows = new Int32Array(1_024)
  }

  #grow(place: number): void {
    const larger = new Int32Array(Math.min(MAX_SERIES, Math.max(place + 1, this.#rows.length * 2)))
    larger.set(this.#rows)
    this.#rows = larger
  }
}
