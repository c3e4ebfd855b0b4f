/** How many calls of asynchronous plugs an engine has open, and who waits until there is none. */
export class OpenCount {
  #open = 0
  #waiting: (() => void)[] = []

  get size(): number {
    return this.#open
  }

  /** One more is open; call what comes back when it settles. */
  opened(): () => void {
    this.#open++
    return () => {
      this.#open--
      if (this.#open > 0) return
      const waiting = this.#waiting
      this.#waiting = []
      for (const resolve of waiting) resolve()
    }
  }

  /** Resolves when none is open. */
  settled(): Promise<void> {
    if (this.#open === 0) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push(resolve))
  }
}
