/** Splits long work into slices, between which the event loop serves others. */

export interface LoopTimers {
  /** ms of a monotonic clock */
  readonly elapsed: () => number
  /** Runs `work` in a later turn of the loop. */
  readonly soon: (work: () => void) => void
}

/** ms of one slice */
const TURN_MS = 4
/** items between two reads of the clock */
const STRIDE = 32

/** Work that shares a Yielder shares the time of its slices. */
export class Yielder {
  readonly #turns: LoopTimers
  readonly #ms: number
  /** each returns whether another may follow in the same turn */
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

  /** Begins the slice now: the time so far was not work. */
  restart(): void {
    this.#since = this.#turns.elapsed()
  }

  /** Waits for the next turn if the slice is over, otherwise returns undefined even if others wait. */
  due(): Promise<void> | undefined {
    return this.isOver ? this.next() : undefined
  }

  /** Resolves in a later turn. Waiters continue in order, one a turn. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#add(() => {
        resolve()
        return false
      })
    })
  }

  /** Runs short work in a later turn in call order, as much per turn as its time allows. */
  soon(work: () => void): void {
    this.#add(() => {
      work()
      return true
    })
  }

  /** Maps a long list, yielding in between. */
  async map<Item, Result>(items: ArrayLike<Item>, of: (item: Item, place: number) => Result): Promise<Result[]> {
    const results: Result[] = []
    for (let place = 0; place < items.length; place += 1) {
      // Within its length an array-like has an item, which may itself be undefined.
      results.push(of(items[place] as Item, place))
      if (place % STRIDE === STRIDE - 1) await this.due()
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
