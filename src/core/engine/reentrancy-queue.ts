/** Queues work that arrives while an engine is busy, first in, first out. */
import { AppError } from '#kernel'

/** A piece of work; `now`: the time when its turn comes. */
export type Work = (now: number) => void

const MAX_WAITING = 100_000
const COMPACT_AFTER = 10_000

export class ReentrancyQueue {
  readonly #list: Work[] = []
  #taken = 0
  readonly #end: PendingFlush

  constructor(end: PendingFlush) {
    this.#end = end
  }

  get isEmpty(): boolean {
    return this.#list.length === 0
  }

  push(work: Work): void {
    if (this.#list.length - this.#taken >= MAX_WAITING) {
      throw new AppError(
        'TOO_LARGE',
        `${MAX_WAITING} pieces of work wait for the current one; send less from inside a plug or subscriber`,
      )
    }
    this.#list.push(work)
    this.#end.hasWork = true
  }

  /** Returns the next piece of work by advancing an index, since shifting a long array takes linear time. */
  next(): Work | undefined {
    const next = this.#list[this.#taken++]
    if (next === undefined || this.#taken >= COMPACT_AFTER) {
      this.#list.splice(0, this.#taken)
      this.#taken = 0
    }
    return next
  }
}

export interface PendingFlush {
  hasWork: boolean
}
