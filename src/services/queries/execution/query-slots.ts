/**
 * Limits how many queries a host runs at once, so that posts are processed in between.
 *
 * SLOTS-1 queries begin in order of arrival
 * SLOTS-2 a query beyond the waiting limit is rejected (`RATE_LIMITED`), and no query waits forever
 */
import { AppError, Semaphore, Yielder } from '#kernel'
import { machineTimers } from '#platform'

const MAX_RUNNING = 2
const MAX_WAITING = 10_000
/** ms per turn: a post takes several turns of the loop, each of which includes work of one query */
const TURN_MS = 1

export class QuerySlots {
  readonly yielder = new Yielder(machineTimers, TURN_MS)
  readonly #limit = new Semaphore(MAX_RUNNING, () => machineTimers.breathe())
  readonly #most: number

  constructor(most = MAX_WAITING) {
    this.#most = most
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#limit.isFull && this.#limit.waiting >= this.#most) {
      throw new AppError('RATE_LIMITED', `${this.#most} queries are pending; retry in a moment`)
    }
    return this.#limit.run(work)
  }
}
