/** Work that came to an engine while it was at work, first come first served. */
import { AppError } from '#kernel'
import type { EndOfInput } from './end-of-input.ts'

/** A piece of work that takes its turn; it is told the time at which it does. */
export type Work = (now: number) => void

const MAX_WAITING = 100_000
const COMPACT_AFTER = 10_000

/** Work that arrived while other work was under way, first come first served. */
export class WaitingWork {
  readonly #list: Work[] = []
  /** how many of the list were taken already */
  #taken = 0
  readonly #end: EndOfInput

  constructor(end: EndOfInput) {
    this.#end = end
  }

  get isEmpty(): boolean {
    return this.#list.length === 0
  }

  /** Throws `TOO_LARGE` when too much waits. */
  push(work: Work): void {
    if (this.#list.length - this.#taken >= MAX_WAITING) {
      throw new AppError(
        'TOO_LARGE',
        `${MAX_WAITING} pieces of work wait for the one under way; send less from inside a plug or subscriber`,
      )
    }
    this.#list.push(work)
    this.#end.hasWork = true
  }

  /** Counts on instead of shifting: shifting a long queue takes time for each that waits. */
  next(): Work | undefined {
    const next = this.#list[this.#taken++]
    if (next === undefined || this.#taken >= COMPACT_AFTER) {
      this.#list.splice(0, this.#taken)
      this.#taken = 0
    }
    return next
  }
}
