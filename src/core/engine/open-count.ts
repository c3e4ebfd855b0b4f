/** Counts the open asynchronous calls of an engine. */
export class OpenCount {
  #open = 0
  #waiting: (() => void)[] = []

  get size(): number {
    return this.#open
  }

  opened(): void {
    this.#open++
  }

  closed(): void {
    this.#open--
    if (this.#open > 0 || this.#waiting.length === 0) return
    const waiting = this.#waiting
    this.#waiting = []
    for (const resolve of waiting) resolve()
  }

  /** Resolves when no call is open, and no call follows immediately. */
  async settled(): Promise<void> {
    while (this.#open > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }
}
