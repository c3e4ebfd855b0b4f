/** Token bucket for CPU time: refills at a constant rate up to a maximum. */

export interface CpuRate {
  /** seconds of CPU time refilled per second */
  readonly perSecond: number
  /** seconds of CPU time in a full bucket; the bucket starts full */
  readonly most: number
}

export class CpuAllowance {
  readonly #rate: CpuRate
  /** ms of CPU time left; negative after overuse */
  #left: number
  #taken: number | undefined
  #at = 0

  constructor(rate: CpuRate) {
    this.#rate = rate
    this.#left = rate.most * 1_000
  }

  /**
   * Returns the seconds until more CPU time is available; 0 when some is available now. `taken`: total ms of CPU time
   * used so far. The first call only records it, and a lower total than before counts as no use. `at`: ms of a
   * monotonic clock.
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
