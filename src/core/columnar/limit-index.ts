/**
 * Which rows of a vectorized batch fire by one limit for each sensor, without a look at each row. The rows of a sensor are
 * sorted by their limits, so that those which a value is above are the first ones; sets of first ones, as bits by row, are
 * kept at regular distances, and for each sensor a message keeps what is in the next set that has all of its rows, and
 * leaves out the few that are too much. Bits are in the order of rows, whatever the order of limits.
 */
import type { Limits, VectorCondition } from './row-code.ts'
import type { BatchShape } from './batch-shape.ts'

/** fewer rows are looked at one by one */
export const MIN_INDEXED = 128
/** rows from one kept set to the next, at least; and how many sets there are at most */
const LEAST_STEP = 16
const MAX_SETS = 64

/** Ranges of one cut, as bits: below the limit, at it, above. */
const BELOW = 1
const AT = 2
const ABOVE = 4
const ALL = BELOW | AT | ABOVE

/** Undefined when some sensor has more than one limit. `parameters`: the names of the numbers that rows compare. */
export function limitIndex(
  { sensors }: BatchShape,
  { allowed, isNegated }: VectorCondition,
  parameters: readonly string[],
  limits: Limits,
  rows: number,
): LimitIndex | undefined {
  const found: SortedSensor[] = []
  for (const [p, { steps }] of sensors.entries()) {
    const ranges = allowed[p] ?? 0
    if (steps?.cuts !== 1) return undefined
    if (ranges === ALL) continue
    found.push(new SortedSensor(limits[steps.constant] ?? [], parameters.indexOf(steps.parameter), ranges, rows))
  }
  return new LimitIndex(found, isNegated, rows)
}

export class LimitIndex {
  readonly #sensors: readonly SortedSensor[]
  readonly #isNegated: boolean
  /** the bits of the last word that are rows */
  readonly #lastMask: number

  constructor(sensors: readonly SortedSensor[], isNegated: boolean, rows: number) {
    this.#sensors = sensors
    this.#isNegated = isNegated
    this.#lastMask = rows % 32 === 0 ? -1 : 2 ** (rows % 32) - 1
  }

  /** As `VectorCode.sweep`, by what stands at `at`. False when no row fires. */
  find(firing: Int32Array, values: Float64Array, at: number): boolean {
    firing.fill(-1)
    for (const sensor of this.#sensors) sensor.keepAllowed(firing, values[at + sensor.parameter] ?? 0)
    if (this.#isNegated) for (let w = 0; w < firing.length; w++) firing[w] = ~(firing[w] ?? 0)
    const last = firing.length - 1
    firing[last] = (firing[last] ?? 0) & this.#lastMask
    let any = 0
    for (let w = 0; w <= last; w++) any |= firing[w] ?? 0
    return any !== 0
  }
}

class SortedSensor {
  /** place of its number among those of a message */
  readonly parameter: number
  readonly #ranges: number
  /** ascending, and whose they are */
  readonly #limits: Float64Array
  readonly #order: Int32Array
  readonly #step: number
  /** sets of the first `step * n` rows, and of all, one after the other */
  readonly #sets: Int32Array

  constructor(limits: readonly number[], parameter: number, ranges: number, rows: number) {
    this.parameter = parameter
    this.#ranges = ranges
    this.#order = Int32Array.from({ length: rows }, (_, row) => row).sort(
      (a, b) => (limits[a] ?? 0) - (limits[b] ?? 0) || a - b,
    )
    this.#limits = Float64Array.from(this.#order, (row) => limits[row] ?? 0)
    this.#step = Math.max(LEAST_STEP, Math.ceil(rows / (MAX_SETS - 1)))
    const size = wordsFor(rows)
    const sets = Math.ceil(rows / this.#step) + 1
    this.#sets = new Int32Array(size * sets)
    const first = new Int32Array(size)
    for (let n = 0; n < sets; n++) {
      this.#sets.set(first, size * n)
      for (const row of this.#order.subarray(n * this.#step, (n + 1) * this.#step)) add(first, row)
    }
  }

  /** Takes those out of the set whose range is not allowed. */
  keepAllowed(firing: Int32Array, value: number): void {
    const ranges = this.#ranges
    // Of limits below the value, which is above them, of those at it, and of those above it.
    if (ranges === ABOVE) this.#keepFirst(firing, this.#firstNotBelow(value))
    else if (ranges === (AT | ABOVE)) this.#keepFirst(firing, this.#firstAbove(value))
    else if (ranges === BELOW) this.#keepOthers(firing, this.#firstAbove(value))
    else if (ranges === (BELOW | AT)) this.#keepOthers(firing, this.#firstNotBelow(value))
    else this.#keepEqual(firing, value)
  }

  /** Keeps the rows of the first so many limits. */
  #keepFirst(firing: Int32Array, rank: number): void {
    const sets = this.#sets
    const order = this.#order
    const kept = Math.ceil(rank / this.#step)
    const from = kept * firing.length
    for (let w = 0; w < firing.length; w++) firing[w] = (firing[w] ?? 0) & (sets[from + w] ?? 0)
    const end = Math.min(kept * this.#step, order.length)
    for (let r = rank; r < end; r++) leaveOut(firing, order[r] ?? 0)
  }

  /** Keeps all others. */
  #keepOthers(firing: Int32Array, rank: number): void {
    const sets = this.#sets
    const order = this.#order
    const kept = Math.floor(rank / this.#step)
    const from = kept * firing.length
    for (let w = 0; w < firing.length; w++) firing[w] = (firing[w] ?? 0) & ~(sets[from + w] ?? 0)
    for (let r = kept * this.#step; r < rank; r++) leaveOut(firing, order[r] ?? 0)
  }

  /** Keeps the rows whose limit is the value, or leaves them out; no row at all when no range is allowed. */
  #keepEqual(firing: Int32Array, value: number): void {
    const [from, to] = [this.#firstNotBelow(value), this.#firstAbove(value)]
    if (this.#ranges === (BELOW | ABOVE)) {
      for (let r = from; r < to; r++) leaveOut(firing, this.#order[r] ?? 0)
      return
    }
    const equal = new Int32Array(firing.length)
    if (this.#ranges === AT) for (let r = from; r < to; r++) add(equal, this.#order[r] ?? 0)
    for (let w = 0; w < firing.length; w++) firing[w] = (firing[w] ?? 0) & (equal[w] ?? 0)
  }

  #firstNotBelow(value: number): number {
    const limits = this.#limits
    let low = 0
    let high = limits.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((limits[middle] ?? 0) < value) low = middle + 1
      else high = middle
    }
    return low
  }

  #firstAbove(value: number): number {
    const limits = this.#limits
    let low = 0
    let high = limits.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((limits[middle] ?? 0) <= value) low = middle + 1
      else high = middle
    }
    return low
  }
}

function add(set: Int32Array, row: number): void {
  set[row >> 5] = (set[row >> 5] ?? 0) | (1 << (row & 31))
}

function leaveOut(set: Int32Array, row: number): void {
  set[row >> 5] = (set[row >> 5] ?? 0) & ~(1 << (row & 31))
}

/** of sets of rows, 32 bits each */
export function wordsFor(rows: number): number {
  return Math.ceil(rows / 32)
}
