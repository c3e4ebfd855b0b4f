/** How many calls of asynchronous plugs an engine has open, and who waits until there is none. */
export class OpenCount {
  #open = 0
  #waiting: (() => void)[] = []

  get size(): number {
    return this.#open
  }

  /** One more is open. */
  opened(): void {
    this.#open++
  }

  /** One has settled, or nobody waits for it any more. */
  closed(): void {
    this.#open--
    if (this.#open > 0 || this.#waiting.length === 0) return
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }

  /** Resolves when none is open, and none follows from the last at once. */
  async settled(): Promise<void> {
    while (this.#open > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }
}
