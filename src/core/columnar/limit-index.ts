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
/** rows from one kept set to the next, at least; and how many sets there are at most */
const LEAST_STEP = 16
const MAX_SETS = 64
/** Equal parts of the span of limits, by which a search begins, for each row: most then have one limit or none. */
const PARTS_PER_ROW = 2

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
  readonly #words: number
  /** the bits of the last word that are rows */
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
  /** ascending, and whose they are */
  readonly #limits: Float64Array
  readonly #order: Int32Array
  /** by part of their span: how many limits are in those before it */
  readonly #starts: Int32Array
  readonly #parts: number
  readonly #least: number
  readonly #partsPerUnit: number
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
    this.#parts = PARTS_PER_ROW * rows
    this.#least = this.#limits[0] ?? 0
    const perUnit = this.#parts / ((this.#limits[rows - 1] ?? 0) - this.#least)
    // Limits that are all the same, too close or too far apart are in one part.
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

  /** Takes those out of the set at `first` whose range is not allowed; `isNew`: it has all that are allowed then. */
  keepAllowed(firing: Int32Array, first: number, value: number, isNew: boolean): void {
    const ranges = this.#ranges
    // Of limits below the value, which is above them, of those at it, and of those above it.
    if (ranges === ABOVE) this.#keepFirst(firing, first, this.#firstNotBelow(value), isNew)
    else if (ranges === (AT | ABOVE)) this.#keepFirst(firing, first, this.#firstAbove(value), isNew)
    else if (ranges === BELOW) this.#keepOthers(firing, first, this.#firstAbove(value), isNew)
    else if (ranges === (BELOW | AT)) this.#keepOthers(firing, first, this.#firstNotBelow(value), isNew)
    else this.#keepEqual(firing, first, value, isNew)
  }

  /** Keeps the rows of the first so many limits. */
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

  /** Keeps all others. */
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

  /** Keeps the rows whose limit is the value, or leaves them out; no row at all when no range is allowed. */
  #keepEqual(firing: Int32Array, first: number, value: number, isNew: boolean): void {
    const [from, to] = [this.#firstNotBelow(value), this.#firstAbove(value)]
    const words = this.#words
    if (isNew) firing.fill(-1, first, first + words)
    if (this.#ranges === (BELOW | ABOVE)) {
      for (let r = from; r < to; r++) leaveOut(firing, first, this.#order[r] as number)
      return
    }
    const equal = new Int32Array(words)
    if (this.#ranges === AT) for (let r = from; r < to; r++) add(equal, this.#order[r] as number)
    for (let w = 0; w < words; w++) firing[first + w] = (firing[first + w] as number) & (equal[w] as number)
  }

  /** Rises with the value: limits in parts before it are below the value, those in parts after it are above. */
  #partOf(value: number): number {
    const part = (value - this.#least) * this.#partsPerUnit
    return part > 0 ? Math.min(part, this.#parts) | 0 : 0
  }

  #firstNotBelow(value: number): number {
    const limits = this.#limits
    const part = this.#partOf(value)
    let first = this.#starts[part] as number
    // Without a branch on what is compared, which a processor guesses as often wrong as right.
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

/** Of the set at `first`. */
function leaveOut(sets: Int32Array, first: number, row: number): void {
  const word = first + (row >> 5)
  sets[word] = (sets[word] as number) & ~(1 << (row & 31))
}

/** of sets of rows, 32 bits each */
export function wordsFor(rows: number): number {
  return Math.ceil(rows / 32)
}

/** How many of the first rows are in the set at `first`. */
export function countRows(sets: Int32Array, first: number, rows: number): number {
  let count = 0
  for (let w = 0; w << 5 < rows; w++) {
    const left = rows - (w << 5)
    const word = sets[first + w] as number
    count += ones(left < 32 ? word & ((1 << left) - 1) : word)
  }
  return count
}

/** How many bits are set. */
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
