/** The clock of a tenant's tasks: never behind its log, and slower than the host's clock while ahead of it. */
import type { SchedulerAction, SchedulerLike, Subscription } from 'rxjs'

/** speed of the clock while the host's time is behind */
const PACE = 0.9

export class LeadingClock implements SchedulerLike {
  readonly #scheduler: SchedulerLike
  #time: number
  #last: number

  constructor(scheduler: SchedulerLike) {
    this.#scheduler = scheduler
    this.#last = scheduler.now()
    this.#time = this.#last
  }

  /** epoch ms; monotonic */
  readonly now = (): number => {
    const host = this.#scheduler.now()
    // an operator may set the host's clock back
    const passed = Math.max(0, host - this.#last)
    this.#last = host
    this.#time = Math.max(host, this.#time + passed * PACE)
    return Math.floor(this.#time)
  }

  schedule<T>(work: (this: SchedulerAction<T>, state?: T) => void, delay?: number, state?: T): Subscription {
    return this.#scheduler.schedule(work, delay, state)
  }

  atLeast(time: number): void {
    this.#time = Math.max(this.now(), time)
  }

  get leadMs(): number {
    return this.now() - this.#last
  }
}
