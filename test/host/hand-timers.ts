/** Timers for a host that a test advances by hand. */
import type { Timers } from '../../src/host/timers.ts'

interface Due {
  at: number
  /** Interval in ms; undefined: the work runs once */
  readonly every: number | undefined
  work(): void
}

export class HandTimers implements Timers {
  #now = 0
  readonly #due = new Set<Due>()

  elapsed(): number {
    return this.#now
  }

  after(ms: number, work: () => void): () => void {
    return this.#add({ at: this.#now + ms, every: undefined, work })
  }

  every(ms: number, work: () => void): () => void {
    return this.#add({ at: this.#now + ms, every: ms, work })
  }

  /** Advances the time by `ms`, and runs everything due, in order. */
  advance(ms: number): void {
    const end = this.#now + ms
    for (let next = this.#next(end); next !== undefined; next = this.#next(end)) {
      this.#now = next.at
      if (next.every === undefined) this.#due.delete(next)
      else next.at += next.every
      next.work()
    }
    this.#now = end
  }

  #next(end: number): Due | undefined {
    const due = [...this.#due].filter(({ at }) => at <= end)
    return due.reduce<Due | undefined>(
      (first, one) => (first === undefined || one.at < first.at ? one : first),
      undefined,
    )
  }

  #add(due: Due): () => void {
    this.#due.add(due)
    return () => void this.#due.delete(due)
  }
}
