/** Writes to very many readers take turns with everything else that the process does. */

/** ms that writing may take before others get their turn */
const TURN_MS = 8
/** Writes between two looks at the clock. */
const WRITES_PER_LOOK = 16

export class WriteTimeSlicer {
  #due: (() => void)[] = []
  #isScheduled = false

  /** Does it in one of the next turns of the loop, in the order of the calls. */
  soon(work: () => void): void {
    this.#due.push(work)
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => this.#write())
  }

  #write(): void {
    const due = this.#due
    this.#due = []
    const end = performance.now() + TURN_MS
    let done = 0
    for (; done < due.length && (done % WRITES_PER_LOOK !== 0 || performance.now() < end); done++) due[done]?.()
    if (done < due.length) this.#due = [...due.slice(done), ...this.#due]
    this.#isScheduled = this.#due.length > 0
    if (this.#isScheduled) setImmediate(() => this.#write())
  }
}
