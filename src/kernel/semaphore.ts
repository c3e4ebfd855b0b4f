/** Runs at most `most` pieces of work at a time; the others wait in the order of their calls. */
export class Semaphore {
  readonly #most: number
  readonly #waiting: (() => void)[] = []
  readonly #breathe: (() => Promise<void>) | undefined
  #working = 0

  /** `breathe`: what is waited for before the next one in line begins */
  constructor(most: number, breathe?: () => Promise<void>) {
    this.#most = most
    this.#breathe = breathe
  }

  /** Whether work that comes now waits. */
  get isFull(): boolean {
    return this.#working >= this.#most
  }

  get waiting(): number {
    return this.#waiting.length
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.isFull) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#working++
    try {
      return await work()
    } finally {
      if (this.#waiting.length > 0) await this.#breathe?.()
      // the next one takes over the place, so that none overtakes
      const next = this.#waiting.shift()
      if (next === undefined) this.#working--
      else next()
    }
  }
}
