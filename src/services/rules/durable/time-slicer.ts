/** Long work in pieces: after some ms the loop gets its turn. */
import { machineTimers } from '#platform'

const PIECE_MS = 10

export class TimeSlicer {
  #since = machineTimers.elapsed()

  get isLong(): boolean {
    return machineTimers.elapsed() - this.#since > PIECE_MS
  }

  /** Waits for a turn of the loop when this piece has been long. */
  async rest(): Promise<void> {
    if (!this.isLong) return
    await nextTurn()
    this.#since = machineTimers.elapsed()
  }
}

export function nextTurn(): Promise<void> {
  return machineTimers.breathe()
}
