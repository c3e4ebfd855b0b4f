/** Remembers run numbers of removed tasks, so that effect ids stay unique; the highest evicted counts for all. */
import { LruCache } from '#kernel'

const MAX_IDS = 10_000

export class RunNumbers {
  readonly #last = new LruCache<string, number>(MAX_IDS)
  #pushedOut = 0

  /** Remembers a removed task. `run`: number of its last run, 0 for a task that never ran. */
  removed(id: string, run: number): void {
    if (run === 0) return
    this.#pushedOut = Math.max(this.#pushedOut, this.#last.set(id, run) ?? 0)
  }

  /** Returns an upper bound of the run numbers used with an id. `isNew`: the caller knows that the id is unused. */
  lastOf(id: string, isNew: boolean): number {
    return this.#last.get(id) ?? (isNew ? 0 : this.#pushedOut)
  }
}
