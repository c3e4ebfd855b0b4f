/** The figures of a group of samples: count, sums, extremes and deviation. */
import type { Bucket, SampleValue } from '#storage'
import { SortedRuns } from './sorted-runs.ts'

/** What is known of a group of samples that is not empty. Numbers are over numeric samples, and null without any. */
export interface Figures {
  readonly count: number
  readonly numeric: number
  readonly sum: number | null
  readonly min: number | null
  readonly max: number | null
  readonly first: SampleValue
  readonly last: SampleValue
  /** of the sample, over n - 1: 0 for one number; undefined where the sums at hand cannot tell it well enough */
  readonly deviation: number | null | undefined
  /** sum of the differences whose later sample is in the group; null without one */
  readonly change: number | null
  /** numeric samples by rank; empty where nobody asks for ranks */
  readonly ranks: SortedRuns
}

const NO_RANKS = new SortedRuns()
/** how much of the squared deviations may be rounding */
const TOLERANCE = 1e-8

/** Figures of what storage reckoned: all but ranks and change. */
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

/**
 * The sum of squares less the square of the sum loses all digits when numbers are far from 0 and close together. A sum
 * of n terms may be wrong by n roundings: with less than that bound left after the difference, the answer is unknown.
 */
function deviationOf({ numeric, sum, sumOfSquares, min, max }: Bucket): number | null | undefined {
  if (sum === null || sumOfSquares === null) return null
  if (min === max) return 0
  const squares = sumOfSquares - (sum * sum) / numeric
  const rounding = 2 * numeric * Number.EPSILON * sumOfSquares
  return squares * TOLERANCE >= rounding ? Math.sqrt(squares / (numeric - 1)) : undefined
}

/** Figures of samples as they come by, in the order of time. Nothing is ever subtracted from a sum of squares (Welford). */
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
  /** the first number: what is far from 0 and close together keeps its digits when it is taken around it */
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

  /** `previous`: the number before it in the series, if any. */
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
