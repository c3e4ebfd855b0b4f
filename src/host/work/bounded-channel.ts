/** Values from one producer to one consumer; a bounded number waits. */
export class BoundedChannel<T extends object> implements AsyncIterable<T> {
  readonly #most: number
  readonly #waiting: T[] = []
  #over: { readonly error: Error | undefined } | undefined
  /** wakes the reader, and those who make more */
  #wakeReader: () => void = () => undefined
  #wakeMaker: () => void = () => undefined

  /** `most`: values that may wait */
  constructor(most: number) {
    this.#most = most
  }

  /** Resolves when there is room for another. One at a time. */
  put(value: T): Promise<void> | undefined {
    this.#waiting.push(value)
    this.#wakeReader()
    if (this.#waiting.length < this.#most) return undefined
    return new Promise((resolve) => (this.#wakeMaker = resolve))
  }

  /** No more come; the reader gets the error after all that waits. */
  end(error?: Error): void {
    this.#over = { error }
    this.#wakeReader()
  }

  /** To be read once. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      const next = this.#waiting.shift()
      if (next !== undefined) {
        this.#wakeMaker()
        yield next
      } else if (this.#over === undefined) {
        await new Promise<void>((resolve) => (this.#wakeReader = resolve))
      } else if (this.#over.error === undefined) return
      else throw this.#over.error
    }
  }
}
