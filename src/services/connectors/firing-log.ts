/**
 * Keeps firings in a log while a sink wants them. The store takes them in the order of calls, so they are durable before
 * a checkpoint of tasks that includes them; a replay from an older checkpoint brings them again.
 */
import { messageOf, type StartTimer } from '#kernel'
import type { FiringListener, TaskFiring } from '#services/rules/contract'
import type { Log, Store } from '#storage'

const RETRY_MS = 1_000

export interface FiringTapOfRules {
  listen(listener: FiringListener | undefined): void
}

export class FiringLog {
  readonly log: Log
  readonly #later: StartTimer
  readonly #report: (what: string) => void
  readonly #waiting = new Set<() => void>()
  #last = 0

  constructor(store: Store, later: StartTimer, report: (what: string) => void) {
    this.log = store.log('connector_firings')
    this.#later = later
    this.#report = report
  }

  readonly last = (): number => this.#last

  /** Calls `wake` once, after the next firings are stored. Returns a function that cancels it. */
  readonly onceGrown = (wake: () => void): (() => void) => {
    this.#waiting.add(wake)
    return () => void this.#waiting.delete(wake)
  }

  async open(): Promise<void> {
    this.#last = Math.max(this.#last, (await this.log.bounds()).last)
  }

  readonly take: FiringListener = (firings) => {
    if (firings.length === 0) return
    this.log.append(firings.map((firing: TaskFiring) => ({ ...firing }))).then(
      (position) => {
        this.#last = Math.max(this.#last, position)
        const waiting = [...this.#waiting]
        this.#waiting.clear()
        for (const wake of waiting) wake()
      },
      (error: unknown) => {
        this.#report(`firings wait for the store: ${messageOf(error)}`)
        this.#later(RETRY_MS, () => this.take(firings))
      },
    )
  }
}
