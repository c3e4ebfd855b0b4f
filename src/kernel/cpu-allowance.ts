/** How much CPU time somebody may take: so much comes back in a second, and so much can be saved up. */

export interface CpuRate {
  /** seconds of CPU time in a second */
  readonly perSecond: number
  /** seconds of it that are saved up at most, and at the begin */
  readonly most: number
}

export class CpuAllowance {
  readonly #rate: CpuRate
  /** ms; below 0 when more was taken than there was */
  #left: number
  #taken: number | undefined
  #at = 0

  constructor(rate: CpuRate) {
    this.#rate = rate
    this.#left = rate.most * 1_000
  }

  /**
   * Seconds until more may be taken; 0: now. `taken`: ms of CPU time so far, of which what was taken before the first look
   * is nobody's; less than before means that some of it was forgotten. `at`: ms of a clock that never goes back.
   */
  waitAfter(taken: number, at: number): number {
    const { perSecond, most } = this.#rate
    const gone = Math.max(0, taken - (this.#taken ?? taken))
    const back = this.#taken === undefined ? 0 : (at - this.#at) * perSecond
    this.#left = Math.min(most * 1_000, this.#left + back) - gone
    this.#taken = taken
    this.#at = at
    return this.#left >= 0 ? 0 : Math.max(1, Math.ceil(-this.#left / (perSecond * 1_000)))
  }
}
