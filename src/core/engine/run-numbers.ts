/**
 * Numbers of runs of removed tasks, by the ids that users chose: a new task under such an id continues counting, so
 * that effect ids stay unique. Bounded: for evicted ids, the highest number counts for all new tasks.
 */
import { LruCache } from '#kernel'

const MAX_IDS = 10_000

export class RunNumbers {
  readonly #last = new LruCache<string, number>(MAX_IDS)
  #pushedOut = 0

  /** `run`: the last one, 0 for a task that never ran. */
  removed(id: string, run: number): void {
    if (run === 0) return
    this.#pushedOut = Math.max(this.#pushedOut, this.#last.set(id, run) ?? 0)
  }

  /** An upper bound of the runs under an id. `isNew`: the caller knows the id as unused. */
  lastOf(id: string, isNew: boolean): number {
    return this.#last.get(id) ?? (isNew ? 0 : this.#pushedOut)
  }
}
