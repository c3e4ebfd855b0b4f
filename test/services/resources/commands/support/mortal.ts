/** Simulates a process that can end at any moment: its later calls have no effect, as after kill -9. */

export class Mortal {
  #isDead = false
  #left = Number.POSITIVE_INFINITY

  /** Lets `questions` more calls be answered; the next one may still take effect, but gets no answer. */
  dieAfter(questions: number): void {
    this.#left = questions
  }

  kill(): void {
    this.#isDead = true
  }

  get isDead(): boolean {
    return this.#isDead
  }

  /** Returns the same object, usable as long as this life lasts. */
  over<T extends object>(target: T): T {
    return new Proxy(target, {
      get: (of, name) => {
        const value: unknown = Reflect.get(of, name, of)
        if (typeof value === 'function') {
          return (...args: readonly unknown[]) => this.#answered(() => Reflect.apply(value, of, args) as unknown)
        }
        return this.#wrapped(value)
      },
    })
  }

  #answered(ask: () => unknown): unknown {
    if (this.#isDead) return never()
    const answer = ask()
    if (!(answer instanceof Promise)) return this.#wrapped(answer)
    if (this.#left-- <= 0) this.#isDead = true
    return this.#isDead
      ? answer.then(never, never)
      : answer.then((value: unknown) => (this.#isDead ? never() : this.#wrapped(value)))
  }

  /** Wraps objects with methods; passes plain data on. */
  #wrapped(value: unknown): unknown {
    return typeof value === 'object' && value !== null && hasMethods(value) ? this.over(value) : value
  }
}

function hasMethods(value: object): boolean {
  return ['commit', 'putting', 'appending', 'tenant'].some((name) => name in value)
}

function never(): Promise<never> {
  return new Promise(() => undefined)
}
