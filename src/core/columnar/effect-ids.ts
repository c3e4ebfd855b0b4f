/**
 * Ids of the effects of one task that runs: what stands before an input's number, the number, and a place. Numbers as text
 * are most of what a firing costs that is told, so that all but the last three digits are kept from one to the next.
 */

const STEP = 1000
/** by number below STEP: its three digits and the place 0, which most effects have */
const ENDS: readonly string[] = Array.from({ length: STEP }, (_, i) => `${String(i).padStart(3, '0')}/0`)

export class EffectIds {
  readonly #prefix: string
  /** the last digits are not in it */
  #thousands = 0
  #begin = ''

  constructor(prefix: string) {
    this.#prefix = prefix
  }

  of(input: number, place: number): string {
    if (place !== 0 || input < STEP) return `${this.#prefix}${input}/${place}`
    const thousands = Math.floor(input / STEP)
    if (thousands !== this.#thousands) {
      this.#thousands = thousands
      this.#begin = this.#prefix + thousands
    }
    return this.#begin + (ENDS[input - thousands * STEP] as string)
  }
}
