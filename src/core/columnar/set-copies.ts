/** Copies of sets of rows for those who keep them, many in one list: a list each costs more than what is in it. */

/** Words that copies stand in together. */
const COPIED = 2048

export class SetCopies {
  /** what the last one stands in, and where */
  sets: Int32Array
  first = 0
  readonly #words: number

  /** `words`: of a set */
  constructor(words: number) {
    this.#words = words
    this.sets = new Int32Array(0)
  }

  /** A copy of the set at a place. */
  add(sets: Int32Array, from: number): void {
    const words = this.#words
    this.first += words
    if (this.first + words > this.sets.length) {
      this.sets = new Int32Array(Math.max(1, Math.floor(COPIED / words)) * words)
      this.first = 0
    }
    for (let w = 0; w < words; w++) this.sets[this.first + w] = sets[from + w] as number
  }
}
