/** At most so many pieces of work at a time; the others wait their turn in the order asked. */
export class Limit {
  readonly #most: number
  readonly #waiting: (() => void)[] = []
  #working = 0

  constructor(most: number) {
    this.#most = most
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#working >= this.#most) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    else this.#working++
    try {
      return await work()
    } finally {
      // whoever waits takes over the place, so that nobody overtakes
      const next = this.#waiting.shift()
      if (next === undefined) this.#working--
      else next()
    }
  }
}
