/** One piece of work at a time per key, in the order asked; different keys side by side. */
export class KeyedMutex {
  readonly #tails = new Map<string, Promise<unknown>>()

  run<T>(key: string, work: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key)
    const result = before === undefined ? work() : before.then(work, work)
    this.#tails.set(key, result)
    const tidy = (): void => {
      if (this.#tails.get(key) === result) this.#tails.delete(key)
    }
    result.then(tidy, tidy)
    return result
  }

  /** Resolves when everything that was asked so far is done. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#tails.values())
  }
}
