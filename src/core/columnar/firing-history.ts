/**
 * Stores which rows of a vectorized batch fired at which kept message, as one set of bits per message. A firing sets
 * one bit. How often and when each row fired is computed for all rows at once, when the rows are brought up to date.
 */
import { wordsFor } from './limit-index.ts'

const PLACE_BITS = 12
export const MAX_KEPT = 2 ** PLACE_BITS
const DIGITS = PLACE_BITS + 1
/** number of copied sets that share a buffer */
const COPIES = 64

export class FiringHistory {
  /** number of 32-row words in a set */
  readonly words: number
  /** by message, then by row */
  readonly sets: Int32Array
  readonly #rows: number
  /** by row, as of the last `sumUp`: how often it fired, and the places of its last two firings; 0: never */
  readonly times: Uint16Array
  readonly last: Uint16Array
  readonly before: Uint16Array
  readonly #digits: Int32Array
  readonly #lastOpen: Int32Array
  readonly #beforeOpen: Int32Array
  readonly #open: Int32Array
  #copies = new Int32Array(0)
  #copied = 0

  constructor(rows: number, kept: number) {
    const words = wordsFor(rows)
    this.#rows = rows
    this.words = words
    this.sets = new Int32Array(kept * words)
    this.times = new Uint16Array(32 * words)
    this.last = new Uint16Array(32 * words)
    this.before = new Uint16Array(32 * words)
    this.#digits = new Int32Array(DIGITS * words)
    this.#lastOpen = new Int32Array(words)
    this.#beforeOpen = new Int32Array(words)
    this.#open = new Int32Array(words)
  }

  /** Returns where the set of a message begins. */
  at(place: number): number {
    return place * this.words
  }

  /** Returns the last message up to `place` at which a row fired, or 0. `place` must be one of the last two. */
  lastUpTo(row: number, place: number): number {
    const last = this.last[row] as number
    return last <= place ? last : (this.before[row] as number)
  }

  /** Returns whether a row fired at a message. */
  has(place: number, row: number): boolean {
    return (((this.sets[this.at(place) + (row >> 5)] as number) >> (row & 31)) & 1) === 1
  }

  /** Forgets the firings up to message `newest`. */
  clear(newest: number): void {
    this.sets.fill(0, 0, this.at(newest + 1))
  }

  /** Returns a copy of the set of a message. A buffer for each copy would cost several times as much. */
  copy(place: number): Int32Array {
    const { sets, words } = this
    if (this.#copied === this.#copies.length) {
      this.#copies = new Int32Array(COPIES * words)
      this.#copied = 0
    }
    const from = this.#copied
    for (let w = 0; w < words; w++) this.#copies[this.#copied++] = sets[this.at(place) + w] as number
    return this.#copies.subarray(from, this.#copied)
  }

  /** Removes `row` and all rows after it from a message that they have not received. */
  leaveOut(place: number, row: number): void {
    const word = this.at(place) + (row >> 5)
    if (row < this.#rows) this.sets[word] = (this.sets[word] as number) & ((1 << (row & 31)) - 1)
    this.sets.fill(0, word + 1, this.at(place + 1))
  }

  /** Updates `times`, `last` and `before` with a range of messages. */
  sumUp(first: number, newest: number): void {
    this.#count(first, newest)
    this.#findLast(first, newest)
  }

  /** Adds the sets as numbers of one bit, four messages at a time, all rows of a word together (carry-save adder). */
  #count(first: number, newest: number): void {
    const { sets, words } = this
    const digits = this.#digits.fill(0)
    let place = first
    for (; place + 3 <= newest; place += 4) {
      const at = place * words
      for (let w = 0; w < words; w++) {
        const [a, b] = [sets[at + w] as number, sets[at + words + w] as number]
        const [c, d] = [sets[at + 2 * words + w] as number, sets[at + 3 * words + w] as number]
        let ones = digits[w] as number
        let half = ones ^ a
        const carryOfTwo = (ones & a) | (half & b)
        ones = half ^ b
        half = ones ^ c
        const carryOfFour = (ones & c) | (half & d)
        digits[w] = half ^ d
        const twos = digits[words + w] as number
        half = twos ^ carryOfTwo
        digits[words + w] = half ^ carryOfFour
        carry(digits, 2 * words + w, words, (twos & carryOfTwo) | (half & carryOfFour))
      }
    }
    for (; place <= newest; place++) {
      for (let w = 0; w < words; w++) carry(digits, w, words, sets[place * words + w] as number)
    }
  }

  #findLast(first: number, newest: number): void {
    const { words, sets, times, last, before } = this
    const digits = this.#digits
    const [lastOpen, beforeOpen, open] = [this.#lastOpen, this.#beforeOpen, this.#open]
    last.fill(0)
    before.fill(0)
    let count = 0
    for (let w = 0; w < words; w++) {
      let several = 0
      for (let digit = 1; digit < DIGITS; digit++) several |= digits[digit * words + w] as number
      lastOpen[w] = several | (digits[w] as number)
      beforeOpen[w] = several
      if (lastOpen[w] !== 0) open[count++] = w
      for (let bit = 0; bit < 32; bit++) {
        let sum = 0
        for (let digit = 0; digit < DIGITS; digit++)
          sum |= (((digits[digit * words + w] as number) >>> bit) & 1) << digit
        times[32 * w + bit] = sum
      }
    }
    for (let place = newest; count > 0 && place >= first; place--) {
      const at = place * words
      let left = 0
      for (let i = 0; i < count; i++) {
        const w = open[i] as number
        const set = (sets[at + w] as number) & ((lastOpen[w] as number) | (beforeOpen[w] as number))
        const isLast = set & (lastOpen[w] as number)
        lastOpen[w] = (lastOpen[w] as number) ^ isLast
        beforeOpen[w] = (beforeOpen[w] as number) ^ (set ^ isLast)
        note(last, w, isLast, place)
        note(before, w, set ^ isLast, place)
        open[left] = w
        left += (lastOpen[w] | beforeOpen[w]) === 0 ? 0 : 1
      }
      count = left
    }
  }
}

function note(places: Uint16Array, word: number, rows: number, place: number): void {
  for (let left = rows; left !== 0; left &= left - 1) places[32 * word + 31 - Math.clz32(left & -left)] = place
}

function carry(digits: Int32Array, from: number, words: number, rows: number): void {
  for (let at = from, left = rows; left !== 0; at += words) {
    const digit = digits[at] as number
    digits[at] = digit ^ left
    left &= digit
  }
}
