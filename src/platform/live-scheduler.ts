/**
 * Schedules a live engine with the system's timers and clock. Reading the clock costs as much as a simple rule, so
 * readings are reused in large bursts; single messages and small groups each read the clock.
 *
 * LIVETIME-1 a reading is reused only within the turn of the event loop that made it, after 32 consecutive readings
 *   with the same millisecond, and at most 15 times. If handling each message takes equally long, a reused reading is
 *   late by less than half a millisecond.
 * LIVETIME-2 a replaced clock, as in tests, is read each time.
 */
import { asyncScheduler, type SchedulerAction, type SchedulerLike, type Subscription } from 'rxjs'

/** Number of equal consecutive readings before a reading is reused */
const CALM = 32
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
      // uses a promise, which fake timers do not replace
      if (this.#same === CALM) void settled.then(this.#endOfTurn)
      this.#again = AGAIN
    }
    return now
  }
}
