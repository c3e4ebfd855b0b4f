/**
 * Finds the rows of a vectorized batch that fire, without inspecting each row, when each sensor has one limit. Each
 * sensor's rows are sorted by limit, so a value exceeds the limits of the first rows. Bit sets of the first rows are
 * stored at regular intervals; a message takes the next larger set of each sensor and removes the few rows too many.
 * Bits follow the order of rows, not of limits.
 */
import type { Limits, VectorCondition } from './row-code.ts'
import type { BatchShape } from './batch-shape.ts'
import type { RowStore } from './row-store.ts'

/** smaller batches inspect row by row */
export const MIN_INDEXED = 128
const LEAST_STEP = 16
const MAX_SETS = 64
/** equal parts of the span of limits for each row: most parts then hold one limit or none, which shortens a search */
const PARTS_PER_ROW = 2

const BELOW = 1
const AT = 2
const ABOVE = 4
const ALL = BELOW | AT | ABOVE
const INDEXED: readonly number[] = [BELOW, BELOW | AT, ABOVE, AT | ABOVE]

/**
 * Returns undefined when a sensor has several limits, or fires only at the limit or everywhere except at it.
 * `parameters`: the fields that rows compare.
 */
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

  /** Writes the rows that fire for the values at `at`, as bits from `first` on. */
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
  /** index of the sensor's number within a message */
  readonly parameter: number
  readonly #ranges: number
  readonly #limits: Float64Array
  readonly #order: Int32Array
  /** by part of the span of limits: the number of limits in the parts before it */
  readonly #starts: Int32Array
  readonly #parts: number
  readonly #least: number
  readonly #partsPerUnit: number
  readonly #step: number
  readonly #words: number
  /** sets of the first `step * n` rows, then the set of all rows, one after the other */
  readonly #sets: Int32Array

  constructor(limits: readonly number[], parameter: number, ranges: number, rows: number) {
    this.parameter = parameter
    this.#ranges = ranges
    this.#order = Int32Array.from({ length: rows }, (_, row) => row).sort(
      (a, b) => (limits[a] ?? 0) - (limits[b] ?? 0) || a - b,
    )
    this.#limits = Float64Array.from(this.#order, (row) => limits[row] ?? 0)
    this.#parts = PARTS_PER_ROW * rows
    this.#least = this.#limits[0] ?? 0
    const perUnit = this.#parts / ((this.#limits[rows - 1] ?? 0) - this.#least)
    // Limits that are equal, or too close or too far apart to divide, share one part.
    this.#partsPerUnit = Number.isFinite(perUnit) ? perUnit : 0
    this.#starts = new Int32Array(this.#parts + 2)
    for (const limit of this.#limits) {
      const next = this.#partOf(limit) + 1
      this.#starts[next] = (this.#starts[next] as number) + 1
    }
    for (let part = 1; part < this.#starts.length; part++) {
      this.#starts[part] = (this.#starts[part] as number) + (this.#starts[part - 1] as number)
    }
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

  /**
   * Removes rows whose range is not allowed from the set at `first`. `isNew`: fill the set with all allowed rows
   * instead.
   */
  keepAllowed(firing: Int32Array, first: number, value: number, isNew: boolean): void {
    const ranges = this.#ranges
    // A value exceeds the limits below it, and so on.
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

  /** Rises with the value: limits in earlier parts are below the value, limits in later parts are above it. */
  #partOf(value: number): number {
    const part = (value - this.#least) * this.#partsPerUnit
    return part > 0 ? Math.min(part, this.#parts) | 0 : 0
  }

  #firstNotBelow(value: number): number {
    const limits = this.#limits
    const part = this.#partOf(value)
    let first = this.#starts[part] as number
    // Binary search without a branch on the comparison, which the processor would mispredict half the time.
    for (let left = (this.#starts[part + 1] as number) - first; left > 0;) {
      const half = (left + 1) >> 1
      first += half & -Number((limits[first + half - 1] as number) < value)
      left -= half
    }
    return first
  }

  #firstAbove(value: number): number {
    const limits = this.#limits
    const part = this.#partOf(value)
    let first = this.#starts[part] as number
    for (let left = (this.#starts[part + 1] as number) - first; left > 0;) {
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

function leaveOut(sets: Int32Array, first: number, row: number): void {
  const word = first + (row >> 5)
  sets[word] = (sets[word] as number) & ~(1 << (row & 31))
}

/** Returns the number of 32-bit words that a set of rows takes. */
export function wordsFor(rows: number): number {
  return Math.ceil(rows / 32)
}

/** Counts how many of the first `rows` rows are in a set. */
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

/**
 * Returns the limits of rows as a list of doubles. Starting it with 0.5 keeps the element type fixed for any limits.
 */
export function limitsOf(rows: readonly number[], store: RowStore, constant: number): readonly number[] {
  const limits = [0.5]
  for (const [i, row] of rows.entries()) limits[i] = store.nums[store.at(row) + store.layout.constants + constant] ?? 0
  return limits
}
