/**
 * Long work of queries lets the loop go now and then, so that nothing else waits for it. All queries of a service share
 * it: what comes meanwhile, as a post, takes some turns of the loop until it is answered, and finds the work of one of
 * them in each.
 */
import { machineTimers } from '#platform'

/** ms of one turn */
const MAX_MS = 1

export class Pauses {
  readonly #timers: Pick<typeof machineTimers, 'elapsed' | 'soon'>
  readonly #waiting: (() => void)[] = []
  /** when the work of this turn began */
  #since: number

  constructor(timers: Pick<typeof machineTimers, 'elapsed' | 'soon'> = machineTimers) {
    this.#timers = timers
    this.#since = timers.elapsed()
  }

  /**
   * Undefined while the time of this turn is not over, whoever else waits. Those who wait go on in their order, one a
   * turn.
   */
  due(): Promise<void> | undefined {
    if (this.#timers.elapsed() - this.#since < MAX_MS) return undefined
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      if (this.#waiting.length === 1) this.#wake()
    })
  }

  #wake(): void {
    this.#timers.soon(() => {
      const [next] = this.#waiting.splice(0, 1)
      if (this.#waiting.length > 0) this.#wake()
      this.#since = this.#timers.elapsed()
      next?.()
    })
  }
}
