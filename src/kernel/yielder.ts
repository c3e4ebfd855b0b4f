/** Long work in pieces, between which the event loop serves others. */

/** The machine's, or time and turns by hand. */
export interface LoopTimers {
  /** ms since some moment; never goes back */
  readonly elapsed: () => number
  /** Does the work in a later turn of the loop. */
  readonly soon: (work: () => void) => void
}

/** ms of one turn */
const TURN_MS = 4
/** short works between two looks at the clock */
const STRIDE = 32

/** All who share one have the time of its turns together. */
export class Yielder {
  readonly #turns: LoopTimers
  readonly #ms: number
  /** each returns whether another one may follow in the same turn */
  #waiting: (() => boolean)[] = []
  #isScheduled = false
  /** when the work of this turn began */
  #since: number

  /** `ms`: of one turn */
  constructor(turns: LoopTimers, ms = TURN_MS) {
    this.#turns = turns
    this.#ms = ms
    this.#since = turns.elapsed()
  }

  /** ms of this turn until now */
  get spent(): number {
    return this.#turns.elapsed() - this.#since
  }

  /** Whether the time of this turn is over. */
  get isOver(): boolean {
    return this.spent >= this.#ms
  }

  /** The time of this turn begins now: what passed was not work. */
  restart(): void {
    this.#since = this.#turns.elapsed()
  }

  /** Undefined while the time of this turn is not over, even if others wait. */
  due(): Promise<void> | undefined {
    return this.isOver ? this.next() : undefined
  }

  /** Resolves in a later turn. Those who wait go on in their order, one a turn. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#add(() => {
        resolve()
        return false
      })
    })
  }

  /** Does short work in a later turn, in the order of the calls, as much in one as its time allows. */
  soon(work: () => void): void {
    this.#add(() => {
      work()
      return true
    })
  }

  /** Maps long lists with turns of the loop in between. */
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
