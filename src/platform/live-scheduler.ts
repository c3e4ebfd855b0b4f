/**
 * Scheduler of a live engine: the timers of the system, and its clock, whose reading costs as much as a simple rule.
 * Single messages and small groups read it each. In large bursts readings are reused:
 *
 * LIVETIME-1 a reading is reused only within the turn of the loop that made it, after 32 readings in a row with the
 *   same millisecond, and at most 15 times. When handling messages takes equally long, it is behind by less than half a
 *   millisecond.
 * LIVETIME-2 a replaced clock, as in tests, is read each time.
 */
import { asyncScheduler, type SchedulerAction, type SchedulerLike, type Subscription } from 'rxjs'

/** equal readings in a row before one is reused */
const CALM = 32
/** uses of one reading */
const AGAIN = 15

const machineNow: () => number = Date.now
const settled = Promise.resolve()

export class LiveScheduler implements SchedulerLike {
  #last = 0
  #same = 0
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
      // a promise, since fake timers do not replace it
      if (this.#same === CALM) void settled.then(this.#endOfTurn)
      this.#again = AGAIN
    }
    return now
  }
}
