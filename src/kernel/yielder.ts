/** Splits long work into short slices so that the event loop can serve other work in between. */

export interface LoopTimers {
  /** ms of a monotonic clock */
  readonly elapsed: () => number
  readonly soon: (work: () => void) => void
}

/** ms that one slice may take */
const TURN_MS = 4
/** number of items processed between two clock reads */
const STRIDE = 32

/** Yields to the event loop after each slice. Work that shares a Yielder shares its slices. */
export class Yielder {
  readonly #turns: LoopTimers
  readonly #ms: number
  /** waiting functions; each returns whether another may run in the same turn */
  #waiting: (() => boolean)[] = []
  #isScheduled = false
  #since: number

  constructor(turns: LoopTimers, ms = TURN_MS) {
    this.#turns = turns
    this.#ms = ms
    this.#since = turns.elapsed()
  }

  get spent(): number {
    return this.#turns.elapsed() - this.#since
  }

  get isOver(): boolean {
    return this.spent >= this.#ms
  }

  restart(): void {
    this.#since = this.#turns.elapsed()
  }

  /** Waits for the next turn if the slice is over; otherwise returns undefined, even if others are waiting. */
  due(): Promise<void> | undefined {
    return this.isOver ? this.next() : undefined
  }

  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#add(() => {
        resolve()
        return false
      })
    })
  }

  /** Runs short work in a later turn, in call order, as many pieces per turn as fit into a slice. */
  soon(work: () => void): void {
    this.#add(() => {
      work()
      return true
    })
  }

  async map<Item, Result>(items: ArrayLike<Item>, of: (item: Item, index: number) => Result): Promise<Result[]> {
    const results: Result[] = []
    for (let index = 0; index < items.length; index += 1) {
      // The index is below the length, so the item exists; it may itself be undefined.
      results.push(of(items[index] as Item, index))
      if (index % STRIDE === STRIDE - 1) await this.due()
    }
    return results
  }

  #add(one: () => boolean): void {
    this.#waiting.push(one)
    if (!this.#isScheduled) this.#schedule()
  }

  #schedule(): void {
    this.#isScheduled = true
    this.#turns.soon(() => this.#turn())
  }

  #turn(): void {
    const due = this.#waiting
    this.#waiting = []
    this.restart()
    let done = 0
    for (let goesOn = true; goesOn && done < due.length; done++) {
      goesOn = due[done]?.() === true && (done % STRIDE !== STRIDE - 1 || !this.isOver)
    }
    if (done < due.length) this.#waiting = [...due.slice(done), ...this.#waiting]
    this.#isScheduled = false
    if (this.#waiting.length > 0) this.#schedule()
  }
}
