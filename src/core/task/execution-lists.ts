/** Provides two lists of executions; the links are fields of the executions, so that neither list allocates. */

/** number of executions up to which a search costs less than an index */
const FEW = 8

export interface Linked<T> {
  readonly id: number
  isInFlight: boolean
  earlier: T | null
  later: T | null
}

export interface Queued<T> {
  nextInQueue: T | null
}

/**
 * Lists executions in the order in which they began. Any of them can end at any time, also during iteration. Of two with
 * the same id, the first is found: a row that brings its state up to date adds its open call a second time for a moment.
 */
export class InFlight<T extends Linked<T>> {
  #first: T | null = null
  #last: T | null = null
  #size = 0
  /** exists once a search found many executions, until none are left */
  #byId: Map<number, T> | undefined

  get size(): number {
    return this.#size
  }

  has(execution: T): boolean {
    return execution.isInFlight
  }

  add(execution: T): void {
    execution.isInFlight = true
    execution.earlier = this.#last
    if (this.#last === null) this.#first = execution
    else this.#last.later = execution
    this.#last = execution
    this.#size++
    if (this.#byId?.has(execution.id) === false) this.#byId.set(execution.id, execution)
  }

  delete(execution: T): void {
    if (!execution.isInFlight) return
    execution.isInFlight = false
    const { earlier, later } = execution
    if (earlier === null) this.#first = later
    else earlier.later = later
    if (later === null) this.#last = earlier
    else later.earlier = earlier
    this.#size--
    if (this.#byId?.get(execution.id) === execution) this.#byId.delete(execution.id)
    if (this.#size === 0) this.#byId = undefined
  }

  find(id: number): T | undefined {
    if (this.#size > FEW) {
      // of equal keys a map keeps the last
      this.#byId ??= new Map([...this].reverse().map((execution) => [execution.id, execution]))
      return this.#byId.get(id)
    }
    for (const execution of this) if (execution.id === id) return execution
    return undefined
  }

  clear(): void {
    for (const execution of this) this.delete(execution)
  }

  *[Symbol.iterator](): Iterator<T> {
    // An ended execution keeps its links, so that the iteration can continue from it.
    for (let execution = this.#first; execution !== null; execution = execution.later) {
      if (execution.isInFlight) yield execution
    }
  }
}

/** A first in, first out queue. An execution is in at most one queue, once. */
export class CallQueue<T extends Queued<T>> {
  #first: T | null = null
  #last: T | null = null

  push(execution: T): void {
    execution.nextInQueue = null
    if (this.#last === null) this.#first = execution
    else this.#last.nextInQueue = execution
    this.#last = execution
  }

  unshift(execution: T): void {
    execution.nextInQueue = this.#first
    this.#first = execution
    if (this.#last === null) this.#last = execution
  }

  get isEmpty(): boolean {
    return this.#first === null
  }

  *[Symbol.iterator](): Iterator<T> {
    for (let execution = this.#first; execution !== null; execution = execution.nextInQueue) yield execution
  }

  shift(): T | null {
    const execution = this.#first
    if (execution === null) return null
    this.#first = execution.nextInQueue
    if (this.#first === null) this.#last = null
    execution.nextInQueue = null
    return execution
  }

  clear(): void {
    this.#first = null
    this.#last = null
  }
}
