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

  /** Resolves when none is open. */
  settled(): Promise<void> {
    if (this.#open === 0) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push(resolve))
  }
}
