/** Mutex per key: one task at a time in call order; different keys run concurrently. */
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

  async idle(): Promise<void> {
    await Promise.allSettled(this.#tails.values())
  }
}
