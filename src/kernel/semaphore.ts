/** Limits concurrency to `most`; further calls wait in order. */
export class Semaphore {
  readonly #most: number
  readonly #waiting: (() => void)[] = []
  readonly #breathe: (() => Promise<void>) | undefined
  #working = 0

  /** `breathe` is awaited before each waiting call begins. */
  constructor(most: number, breathe?: () => Promise<void>) {
    this.#most = most
    this.#breathe = breathe
  }

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
      // passes the permit to the next waiting call, so that no later call overtakes it
      const next = this.#waiting.shift()
      if (next === undefined) this.#working--
      else next()
    }
  }
}
