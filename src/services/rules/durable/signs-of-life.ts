/** Stores a sign of life every second while some task would react to a downtime. Log entries count as signs of life. */
import type { SchedulerLike, Subscription } from 'rxjs'

const SIGN_MS = 1_000

export class SignsOfLife {
  readonly #scheduler: SchedulerLike
  readonly #isWanted: () => boolean
  readonly #store: () => Promise<void>
  #last = Number.NEGATIVE_INFINITY
  #timer: Subscription | undefined
  #isStopped = false

  constructor(scheduler: SchedulerLike, isWanted: () => boolean, store: () => Promise<void>) {
    this.#scheduler = scheduler
    this.#isWanted = isWanted
    this.#store = store
  }

  seen(at: number): void {
    this.#last = at
  }

  arm(): void {
    if (this.#timer !== undefined || this.#isStopped || !this.#isWanted()) return
    const next = Math.max(0, this.#last + SIGN_MS - this.#scheduler.now())
    this.#timer = this.#scheduler.schedule(() => void this.#due(), next)
  }

  stop(): void {
    this.#isStopped = true
    this.#timer?.unsubscribe()
  }

  async #due(): Promise<void> {
    const now = this.#scheduler.now()
    if (now - this.#last >= SIGN_MS && this.#isWanted()) {
      this.#last = now
      await this.#store()
    }
    this.#timer = undefined
    this.arm()
  }
}
