/**
 * The scheduler of an engine that runs live: the machine's timers, and its clock, which costs as much to read as a simple
 * rule. Messages that come one by one, or some at a time, read it each. Where very many come in one go, it is not read
 * for each of them any more:
 *
 * LIVETIME-1 a reading is used again only within the turn of the loop that made it, after 32 readings in a row that gave
 *   the same millisecond, and at most 15 times. When handling messages takes equally long, it is behind by less than half
 *   a millisecond.
 * LIVETIME-2 a clock that was put in place of the machine's, as tests do, is read each time.
 */
import { asyncScheduler, type SchedulerAction, type SchedulerLike, type Subscription } from 'rxjs'

/** readings in a row that gave the same before one is used again */
const CALM = 32
/** how often one is used again */
const AGAIN = 15

const machineNow: () => number = Date.now
const settled = Promise.resolve()

export class LiveScheduler implements SchedulerLike {
  #last = 0
  /** readings that gave the last one */
  #same = 0
  /** how often the last one may still be used */
  #again = 0
  readonly #endOfTurn = (): void => {
    this.#again = 0
    this.#same = 0
  }

  now(): number {
    if (this.#again > 0 && Date.now === machineNow) {
      this.#again--
      return this.#last
    }
    return this.#read()
  }

  schedule<T>(work: (this: SchedulerAction<T>, state?: T) => void, delay?: number, state?: T): Subscription {
    return asyncScheduler.schedule(work, delay, state)
  }

  #read(): number {
    const now = Date.now()
    if (now !== this.#last) {
      this.#last = now
      this.#same = 1
    } else if (++this.#same >= CALM) {
      // Promises, since fake timers do not stand in for them.
      if (this.#same === CALM) void settled.then(this.#endOfTurn)
      this.#again = AGAIN
    }
    return now
  }
}
