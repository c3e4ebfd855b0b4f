/**
 * Reconstructs the states that a vectorized batch's rows had at each message since they were last up to date. It
 * remains valid when the batch has continued or ended.
 */
import type { EpochSource } from './row-code.ts'
import { AFTER, BEFORE, COUNT, TIME } from './row-layout.ts'
import type { RowStore } from './row-store.ts'

/** place of the first message; the rows themselves store the one before */
export const FIRST = 2

export class VectorPast {
  readonly #from: EpochSource
  readonly #store: RowStore
  readonly #nums: Float64Array
  readonly #ints: Int32Array
  readonly #shown: Int32Array

  constructor(from: EpochSource, store: RowStore) {
    this.#from = from
    this.#store = store
    const { size } = store.layout
    this.#nums = new Float64Array(from.rows.length * size)
    from.rows.forEach((row, i) => {
      const at = store.at(row)
      this.#nums.set(store.nums.subarray(at, at + size), i * size)
    })
    this.#ints = new Int32Array(this.#nums.buffer)
    this.#shown = new Int32Array(from.rows.length)
  }

  /** number of sensors and gates */
  get nodes(): number {
    return this.#store.layout.nodes
  }

  /** Returns a message's number within the row at place `i`. */
  numberOf(i: number, place: number): number {
    return (this.#nums[this.#at(i) + COUNT] ?? 0) + place - (FIRST - 1)
  }

  /** Returns when the message at a place was taken, epoch ms. */
  timeOf(place: number): number {
    return this.#from.times[place] ?? 0
  }

  /** Returns when each node had entered the state that it had before the message at a place. `asked`: nodes as bits. */
  since(i: number, place: number, asked: number): number[] {
    const { parts, limits, values } = this.#from
    const { changes, lastChange } = parts
    const { nodes } = this
    const { bits } = this.#store.shape
    const found = this.sinceFirst(i)
    let left = asked
    for (let from = place - 1; left !== 0 && from >= FIRST - 1; from--) {
      if (from >= FIRST) from = lastChange(limits, i, values, from, FIRST, left, changes)
      const changed = (changes[(this.statesAt(i, from - 1) << bits) | this.statesAt(i, from)] ?? 0) & left
      for (let n = 0; n < nodes; n++) if ((changed >> n) & 1) found[n] = this.#timeAt(i, from)
      left &= ~changed
    }
    return found
  }

  /** Returns the row's own record of this, as of the message before the first. */
  sinceFirst(i: number): number[] {
    const { nodes, since } = this.#store.layout
    const at = this.#at(i)
    const found: number[] = []
    for (let n = 0; n < nodes; n++) found.push(this.#nums[at + since + n] as number)
    return found
  }

  /** Updates `since` for the next message, from state bits before and after the message at `place`. */
  goOn(since: number[], before: number, after: number, place: number): void {
    const { bits } = this.#store.shape
    const time = this.timeOf(place)
    let left = this.#from.parts.changes[(before << bits) | after] ?? 0
    for (; left !== 0; left &= left - 1) since[31 - Math.clz32(left & -left)] = time
  }

  /** Returns the state bits after a message. */
  statesAt(i: number, place: number): number {
    if (place < FIRST) return this.#ints[2 * this.#at(i) + (place === 0 ? BEFORE : AFTER)] ?? 0
    const { parts, limits, values } = this.#from
    return parts.statesAt(limits, i, values, place * parts.parameters)
  }

  /** Returns the state bits before a message in the high bits, and after it in the low bits. */
  statesAround(i: number, place: number): number {
    return (this.statesAt(i, place - 1) << this.#store.shape.bits) | this.statesAt(i, place)
  }

  /**
   * Does the same for the first `rows` rows, as far as they are in a set. The next call overwrites the list.
   */
  statesAroundAll(set: Int32Array, rows: number, place: number): Int32Array {
    const shown = this.#shown
    // for the first message, the rows themselves store the state before
    if (place <= FIRST) for (let i = 0; i < rows; i++) shown[i] = this.statesAround(i, place)
    else {
      const { parts, limits, values } = this.#from
      const at = place * parts.parameters
      parts.statesOfAll(limits, set, rows, values, at - parts.parameters, at, shown)
    }
    return shown
  }

  #timeAt(i: number, place: number): number {
    return (place < FIRST ? this.#nums[this.#at(i) + TIME] : this.#from.times[place]) ?? 0
  }

  #at(i: number): number {
    return i * this.#store.layout.size
  }
}
