/** Long work in pieces: after some ms the loop gets its turn. */
const PIECE_MS = 10

export class TimeSlicer {
  #since = performance.now()

  get isLong(): boolean {
    return performance.now() - this.#since > PIECE_MS
  }

  /** Waits for a turn of the loop when this piece has been long. */
  async rest(): Promise<void> {
    if (!this.isLong) return
    await nextTurn()
    this.#since = performance.now()
  }
}

export function nextTurn(): Promise<void> {
  return new Promise((resolve) => void setImmediate(resolve))
}
