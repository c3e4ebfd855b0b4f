/** Computes the figures of a group of samples: count, sums, extremes and deviation. */
import type { Bucket, SampleValue } from '#storage'
import { SortedRuns } from './sorted-runs.ts'

/** Figures of a non-empty group. Numeric figures are null without numeric samples. */
export interface Figures {
  readonly count: number
  readonly numeric: number
  readonly sum: number | null
  readonly min: number | null
  readonly max: number | null
  readonly first: SampleValue
  readonly last: SampleValue
  /** sample deviation, dividing by n - 1; 0 for a single number; undefined where the sums are too imprecise */
  readonly deviation: number | null | undefined
  /** sum of the differences whose later sample is in the group; null when there are none */
  readonly change: number | null
  /** numeric samples by rank; empty unless requested */
  readonly ranks: SortedRuns
}

const NO_RANKS = new SortedRuns()
/** largest share of rounding errors in the squared deviations */
const TOLERANCE = 1e-8

/** Figures computed from the store's sums; `ranks` and `change` are not available. */
export class BucketFigures implements Figures {
  readonly #bucket: Bucket
  readonly change = null
  readonly ranks = NO_RANKS

  constructor(bucket: Bucket) {
    this.#bucket = bucket
  }

  get count(): number {
    return this.#bucket.count
  }

  get numeric(): number {
    return this.#bucket.numeric
  }

  get sum(): number | null {
    return this.#bucket.sum
  }

  get min(): number | null {
    return this.#bucket.min
  }

  get max(): number | null {
    return this.#bucket.max
  }

  get first(): SampleValue {
    return this.#bucket.first
  }

  get last(): SampleValue {
    return this.#bucket.last
  }

  get deviation(): number | null | undefined {
    return deviationOf(this.#bucket)
  }
}

/** Undefined when rounding errors of n terms exceed the tolerance, as for numbers far from 0 and close together. */
function deviationOf({ numeric, sum, sumOfSquares, min, max }: Bucket): number | null | undefined {
  if (sum === null || sumOfSquares === null) return null
  if (min === max) return 0
  const squares = sumOfSquares - (sum * sum) / numeric
  const rounding = 2 * numeric * Number.EPSILON * sumOfSquares
  return squares * TOLERANCE >= rounding ? Math.sqrt(squares / (numeric - 1)) : undefined
}

/** Figures of samples added in order of time. Sums of squares are never subtracted (Welford). */
export class Gathering implements Figures {
  readonly start: number
  readonly first: SampleValue
  readonly ranks: SortedRuns
  readonly #ranked: boolean
  count = 0
  numeric = 0
  sum: number | null = null
  min: number | null = null
  max: number | null = null
  last: SampleValue
  change: number | null = null
  /** the first number; sums are relative to it, which preserves digits of numbers far from 0 */
  #origin = 0
  #mean = 0
  #squares = 0

  constructor(start: number, first: SampleValue, ranked: boolean) {
    this.start = start
    this.first = first
    this.last = first
    this.#ranked = ranked
    this.ranks = ranked ? new SortedRuns() : NO_RANKS
  }

  get deviation(): number | null {
    if (this.numeric === 0) return null
    return this.numeric === 1 ? 0 : Math.sqrt(this.#squares / (this.numeric - 1))
  }

  add(value: SampleValue, previous: number | undefined): void {
    this.count += 1
    this.last = value
    if (typeof value !== 'number') return
    this.numeric += 1
    this.sum = (this.sum ?? 0) + value
    this.min = this.min === null ? value : Math.min(this.min, value)
    this.max = this.max === null ? value : Math.max(this.max, value)
    if (previous !== undefined) this.change = (this.change ?? 0) + (value - previous)
    if (this.numeric === 1) this.#origin = value
    const around = value - this.#origin
    const off = around - this.#mean
    this.#mean += off / this.numeric
    this.#squares += off * (around - this.#mean)
    if (this.#ranked) this.ranks.add(value)
  }
}
