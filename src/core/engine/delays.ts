/** Holds replies of plugs that a simulation delays on the engine's clock. */
import type { SchedulerLike, Subscription } from 'rxjs'

interface Delayed {
  readonly at: number
  readonly timer: Subscription
  readonly work: () => void
}

export class Delays {
  readonly #scheduler: SchedulerLike
  readonly #delayed = new Set<Delayed>()

  constructor(scheduler: SchedulerLike) {
    this.#scheduler = scheduler
  }

  get size(): number {
    return this.#delayed.size
  }

  add(ms: number, work: () => void): void {
    const delayed: Delayed = {
      at: this.#scheduler.now() + ms,
      timer: this.#scheduler.schedule(() => this.#run(delayed), ms),
      work,
    }
    this.#delayed.add(delayed)
  }

  hurry(): void {
    let next: Delayed | undefined
    for (const one of this.#delayed) if (next === undefined || one.at < next.at) next = one
    if (next === undefined) return
    next.timer.unsubscribe()
    this.#run(next)
  }

  #run(delayed: Delayed): void {
    this.#delayed.delete(delayed)
    delayed.work()
  }
}
