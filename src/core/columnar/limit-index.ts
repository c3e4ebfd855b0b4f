/**
 * Which rows of a vectorized batch fire by one limit for each sensor, without a look at each row. The rows of a sensor are
 * sorted by their limits, so that those which a value is above are the first ones; sets of first ones, as bits by row, are
 * kept at regular distances, and for each sensor a message keeps what is in the next set that has all of its rows, and
 * leaves out the few that are too much. Bits are in the order of rows, whatever the order of limits.
 */
import type { Limits, VectorCondition } from './row-code.ts'
import type { BatchShape } from './batch-shape.ts'
import type { RowStore } from './row-store.ts'

/** fewer rows are looked at one by one */
export const MIN_INDEXED = 128
const LEAST_STEP = 16
const MAX_SETS = 64

const BELOW = 1
const AT = 2
const ABOVE = 4
const ALL = BELOW | AT | ABOVE
const INDEXED: readonly number[] = [BELOW, BELOW | AT, ABOVE, AT | ABOVE]

/** Undefined when a sensor has more than one limit, or fires at it alone, or at all but it. `parameters`: the names of the numbers that rows compare. */
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
    if (!INDEXED.includes(ranges)) return undefined
    found.push(new SortedSensor(limits[steps.constant] ?? [], parameters.indexOf(steps.parameter), ranges, rows))
  }
  return new LimitIndex(found, isNegated, rows)
}

export class LimitIndex {
  readonly #sensors: readonly SortedSensor[]
  readonly #isNegated: boolean
  readonly #words: number
  readonly #lastMask: number

  constructor(sensors: readonly SortedSensor[], isNegated: boolean, rows: number) {
    this.#sensors = sensors
    this.#isNegated = isNegated
    this.#words = wordsFor(rows)
    this.#lastMask = rows % 32 === 0 ? -1 : 2 ** (rows % 32) - 1
  }

  /** Which rows fire by what stands at `at`, as bits from `first` on. */
  find(firing: Int32Array, first: number, values: Float64Array, at: number): void {
    const sensors = this.#sensors
    const end = first + this.#words
    if (sensors.length === 0) firing.fill(-1, first, end)
    for (let s = 0; s < sensors.length; s++) {
      const sensor = sensors[s] as SortedSensor
      sensor.keepAllowed(firing, first, values[at + sensor.parameter] as number, s === 0)
    }
    if (this.#isNegated) for (let w = first; w < end; w++) firing[w] = ~(firing[w] as number)
    firing[end - 1] = (firing[end - 1] as number) & this.#lastMask
  }
}

class SortedSensor {
  /** place of its number among those of a message */
  readonly parameter: number
  readonly #ranges: number
  readonly #limits: Float64Array
  readonly #order: Int32Array
  readonly #step: number
  readonly #words: number
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
    this.#words = size
    const sets = Math.ceil(rows / this.#step) + 1
    this.#sets = new Int32Array(size * sets)
    const first = new Int32Array(size)
    for (let n = 0; n < sets; n++) {
      this.#sets.set(first, size * n)
      for (const row of this.#order.subarray(n * this.#step, (n + 1) * this.#step)) add(first, row)
    }
  }

  /** Takes those out of the set at `first` whose range is not allowed; `isNew`: it has all that are allowed then. */
  keepAllowed(firing: Int32Array, first: number, value: number, isNew: boolean): void {
    const ranges = this.#ranges
    // The value is above the limits below it, and so on.
    if (ranges === ABOVE) this.#keepFirst(firing, first, this.#firstNotBelow(value), isNew)
    else if (ranges === (AT | ABOVE)) this.#keepFirst(firing, first, this.#firstAbove(value), isNew)
    else if (ranges === BELOW) this.#keepOthers(firing, first, this.#firstAbove(value), isNew)
    else this.#keepOthers(firing, first, this.#firstNotBelow(value), isNew)
  }

  #keepFirst(firing: Int32Array, first: number, rank: number, isNew: boolean): void {
    const sets = this.#sets
    const order = this.#order
    const words = this.#words
    const kept = Math.ceil(rank / this.#step)
    const from = kept * words
    if (isNew) for (let w = 0; w < words; w++) firing[first + w] = sets[from + w] as number
    else for (let w = 0; w < words; w++) firing[first + w] = (firing[first + w] as number) & (sets[from + w] as number)
    const end = Math.min(kept * this.#step, order.length)
    for (let r = rank; r < end; r++) leaveOut(firing, first, order[r] as number)
  }

  #keepOthers(firing: Int32Array, first: number, rank: number, isNew: boolean): void {
    const sets = this.#sets
    const order = this.#order
    const words = this.#words
    const kept = Math.floor(rank / this.#step)
    const from = kept * words
    if (isNew) for (let w = 0; w < words; w++) firing[first + w] = ~(sets[from + w] as number)
    else for (let w = 0; w < words; w++) firing[first + w] = (firing[first + w] as number) & ~(sets[from + w] as number)
    for (let r = kept * this.#step; r < rank; r++) leaveOut(firing, first, order[r] as number)
  }

  #firstNotBelow(value: number): number {
    const limits = this.#limits
    let first = 0
    // Without a branch on what is compared, which a processor guesses as often wrong as right.
    for (let left = limits.length; left > 0;) {
      const half = (left + 1) >> 1
      first += half & -Number((limits[first + half - 1] as number) < value)
      left -= half
    }
    return first
  }

  #firstAbove(value: number): number {
    const limits = this.#limits
    let first = 0
    for (let left = limits.length; left > 0;) {
      const half = (left + 1) >> 1
      first += half & -Number((limits[first + half - 1] as number) <= value)
      left -= half
    }
    return first
  }
}

function add(set: Int32Array, row: number): void {
  set[row >> 5] = (set[row >> 5] ?? 0) | (1 << (row & 31))
}

/** Removes a row from the set at `first`. */
function leaveOut(sets: Int32Array, first: number, row: number): void {
  const word = first + (row >> 5)
  sets[word] = (sets[word] as number) & ~(1 << (row & 31))
}

/** of sets of rows, 32 bits each */
export function wordsFor(rows: number): number {
  return Math.ceil(rows / 32)
}

/** How many of the first rows are in a set. */
export function countRows(set: Int32Array, rows: number): number {
  let count = 0
  for (let w = 0; w << 5 < rows; w++) {
    const left = rows - (w << 5)
    const word = set[w] as number
    count += ones(left < 32 ? word & ((1 << left) - 1) : word)
  }
  return count
}

function ones(word: number): number {
  let bits = word - ((word >>> 1) & 0x55_55_55_55)
  bits = (bits & 0x33_33_33_33) + ((bits >>> 2) & 0x33_33_33_33)
  bits = (bits + (bits >>> 4)) & 0x0f_0f_0f_0f
  return Math.imul(bits, 0x01_01_01_01) >>> 24
}

/** In a list that holds doubles, whatever the limits are: then it needs no look at each. */
export function limitsOf(rows: readonly number[], store: RowStore, constant: number): readonly number[] {
  const limits = [0.5]
  for (const [i, row] of rows.entries()) limits[i] = store.nums[store.at(row) + store.layout.constants + constant] ?? 0
  return limits
}
