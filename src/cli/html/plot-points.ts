/** Reduces a series to the minimum and maximum of each pixel column, in memory that does not grow with the series. */

/** number of pixel columns; a series has at most two points in each */
export const COLUMNS = 1_000

/** Two points in order of time; equal when the column has only one. */
export interface PlotPoint {
  /** epoch ms */
  readonly time: number
  readonly value: number
}

export class PlotPoints {
  count = 0
  readonly #from: number
  readonly #until: number
  readonly #width: number
  readonly #low = new Float64Array(COLUMNS)
  readonly #high = new Float64Array(COLUMNS)
  readonly #lowAt = new Float64Array(COLUMNS).fill(Number.NaN)
  readonly #highAt = new Float64Array(COLUMNS)

  constructor(from: number, until: number) {
    this.#from = from
    this.#until = until
    this.#width = Math.max(1, until - from) / (COLUMNS - 1)
  }

  add(time: number, value: number): void {
    if (time < this.#from || time > this.#until || !Number.isFinite(value)) return
    const column = Math.floor((time - this.#from) / this.#width)
    this.count++
    const isFirst = Number.isNaN(this.#lowAt[column])
    if (isFirst || value < (this.#low[column] ?? 0)) [this.#low[column], this.#lowAt[column]] = [value, time]
    if (isFirst || value > (this.#high[column] ?? 0)) [this.#high[column], this.#highAt[column]] = [value, time]
  }

  get points(): readonly PlotPoint[] {
    const points: PlotPoint[] = []
    for (let column = 0; column < COLUMNS; column++) {
      const low = { time: this.#lowAt[column] ?? Number.NaN, value: this.#low[column] ?? 0 }
      if (Number.isNaN(low.time)) continue
      const high = { time: this.#highAt[column] ?? 0, value: this.#high[column] ?? 0 }
      if (low.value === high.value) points.push(low)
      else points.push(...(low.time <= high.time ? [low, high] : [high, low]))
    }
    return points
  }
}
