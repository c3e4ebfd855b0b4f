/**
 * How often tasks ran that were removed, by the ids that their users chose: a task that is made again under such an id
 * goes on counting, so that no effect gets an id that an earlier one had. Bounded: of the ids that were pushed out, the
 * highest number counts for all that are made.
 */
import { LruCache } from '#kernel'

const MAX_IDS = 10_000

export class RunNumbers {
  /** the last run, by id */
  readonly #last = new LruCache<string, number>(MAX_IDS)
  #pushedOut = 0

  /** A task of that id is removed; `run`: its last one, 0 for one that never ran. */
  removed(id: string, run: number): void {
    if (run === 0) return
    this.#pushedOut = Math.max(this.#pushedOut, this.#last.set(id, run) ?? 0)
  }

  /** A number that no run under that id was above. `isNew`: nobody had the id before, as far as its maker says. */
  lastOf(id: string, isNew: boolean): number {
    return this.#last.get(id) ?? (isNew ? 0 : this.#pushedOut)
  }
}
