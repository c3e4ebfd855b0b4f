/**
 * Limits how many tasks of an engine have an unpacked full state; others are packed until needed.
 *
 * FULLSTATE-1 states are packed only between pieces of work, so that a state in use stays unpacked.
 */
import type { PendingFlush } from './reentrancy-queue.ts'

interface FullTask {
  pack(): boolean
}

/** Default limit: about 40 MB for typical rules. */
const MAX_FULL_STATES = 10_000
/** Maximum number of tasks that are examined after each piece of work, so that adding a task costs bounded time. */
const LOOKS = 2

export class StateCache {
  readonly #end: PendingFlush
  readonly #most: number
  readonly #tasks = new Set<FullTask>()

  constructor(end: PendingFlush, most = MAX_FULL_STATES) {
    this.#end = end
    this.#most = most
  }

  add(task: FullTask): void {
    this.#tasks.add(task)
    this.#noteWork()
  }

  delete(task: FullTask): void {
    this.#tasks.delete(task)
  }

  settle(): void {
    for (let looks = 0; this.#tasks.size > this.#most && looks < LOOKS; looks++) {
      const [oldest] = this.#tasks
      if (oldest === undefined) return
      this.#tasks.delete(oldest)
      if (!oldest.pack()) this.#tasks.add(oldest)
    }
    this.#noteWork()
  }

  #noteWork(): void {
    if (this.#tasks.size > this.#most) this.#end.hasWork = true
  }
}
