/** How many rows of each series were written since it was last looked whether they make up a chunk. */

/** series that are told apart; of those beyond, some share a place, and whichever is written when it is due is looked at */
const MAX_SERIES = 4_194_304

export class WrittenRows {
  // four bytes a series: there may be millions, and each is written now and then
  #rows = new Int32Array(1_024)

  /** Gives how many there are now. */
  add(series: number, rows: number): number {
    const place = series % MAX_SERIES
    if (place >= this.#rows.length) this.#grow(place)
    const now = (this.#rows[place] ?? 0) + rows
    this.#rows[place] = now
    return now
  }

  /** Counts from nothing again, and only what comes after so many rows. */
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
