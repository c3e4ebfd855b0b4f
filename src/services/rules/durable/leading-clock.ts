/**
 * The time of one tenant's tasks: that of the host, but never earlier than what their log reached. Where the log is ahead,
 * it goes on from there, a tenth slower until the host's time has come up with it; nothing else of the host follows.
 */
import type { SchedulerAction, SchedulerLike, Subscription } from 'rxjs'

/** of the time that passes while the host's time is behind */
const PACE = 0.9

export class LeadingClock implements SchedulerLike {
  /** of the host */
  readonly #scheduler: SchedulerLike
  #time: number
  #last: number

  constructor(scheduler: SchedulerLike) {
    this.#scheduler = scheduler
    this.#last = scheduler.now()
    this.#time = this.#last
  }

  /** epoch ms; never goes back */
  readonly now = (): number => {
    const host = this.#scheduler.now()
    // the host's time may go back when its operator says so
    const passed = Math.max(0, host - this.#last)
    this.#last = host
    this.#time = Math.max(host, this.#time + passed * PACE)
    return Math.floor(this.#time)
  }

  schedule<T>(work: (this: SchedulerAction<T>, state?: T) => void, delay?: number, state?: T): Subscription {
    return this.#scheduler.schedule(work, delay, state)
  }

  /** What the log has was done at `time`, epoch ms. */
  atLeast(time: number): void {
    this.#time = Math.max(this.now(), time)
  }

  /** ms by which it is ahead of the host's time. */
  get leadMs(): number {
    return this.now() - this.#last
  }
}
