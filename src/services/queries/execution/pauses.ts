/** Long work lets the loop go now and then, so that nothing else waits for it. */
import { setImmediate } from 'node:timers/promises'

/** ms of one turn */
const MAX_MS = 3

export class Pauses {
  #since = performance.now()

  /** Undefined when it is not yet time: then nobody has to wait. */
  due(): Promise<void> | undefined {
    return performance.now() - this.#since < MAX_MS ? undefined : this.#pause()
  }

  async #pause(): Promise<void> {
    await setImmediate()
    this.#since = performance.now()
  }
}
