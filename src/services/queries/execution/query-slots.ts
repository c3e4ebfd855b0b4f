/**
 * How many queries of a host are carried out at once: as many as keep the readers of storage at work. Others wait for their turn,
 * so that in one turn of the loop there is the work of a few, and whoever posts meanwhile comes in between.
 *
 * SLOTS-1 queries begin in the order in which they came
 * SLOTS-2 a query above those that may wait is refused (`RATE_LIMITED`), and nothing waits for good
 */
import { AppError, Semaphore, Yielder } from '#kernel'
import { machineTimers } from '#platform'

const MAX_RUNNING = 2
const MAX_WAITING = 10_000
/** ms: what comes meanwhile, as a post, takes some turns of the loop, and finds the work of one query in each */
const TURN_MS = 1

export class QuerySlots {
  readonly yielder = new Yielder(machineTimers, TURN_MS)
  readonly #limit = new Semaphore(MAX_RUNNING, () => machineTimers.breathe())
  readonly #most: number

  /** `most`: queries that may wait */
  constructor(most = MAX_WAITING) {
    this.#most = most
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#limit.isFull && this.#limit.waiting >= this.#most) {
      throw new AppError('RATE_LIMITED', `${this.#most} queries wait already; ask again in a moment`)
    }
    return this.#limit.run(work)
  }
}
