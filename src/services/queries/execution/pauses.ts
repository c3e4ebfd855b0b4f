/** Long work lets the loop go now and then, so that nothing else waits for it. */
import { machineTimers } from '../../../machine/timers.ts'

/** ms of one turn */
const MAX_MS = 3

export class Pauses {
  #since = machineTimers.elapsed()

  /** Undefined when it is not yet time: then nobody has to wait. */
  due(): Promise<void> | undefined {
    return machineTimers.elapsed() - this.#since < MAX_MS ? undefined : this.#pause()
  }

  async #pause(): Promise<void> {
    await machineTimers.breathe()
    this.#since = machineTimers.elapsed()
  }
}
