/**
 * The tasks of an engine whose full state is at hand. It takes several times what a row or a task at rest
 * takes, so that only so many have one: that of the others is packed until somebody needs it.
 *
 * FULLSTATE-1 states are packed only between pieces of work, so that a state in use stays unpacked.
 */
import type { EndOfInput } from './end-of-input.ts'

interface FullTask {
  /** Packs its state, if that can be packed. False: something is open in it, and it wants to be asked again. */
  pack(): boolean
}

/** Some 40 MB, as rules go. */
const MAX_FULL_STATES = 10_000
/** Tasks that are looked at after a piece of work, at most: each of those that come makes room for itself. */
const LOOKS = 2

export class FullStates {
  readonly #end: EndOfInput
  readonly #most: number
  /** those that came first are packed first */
  readonly #tasks = new Set<FullTask>()

  /** `most`: tasks that may have one */
  constructor(end: EndOfInput, most = MAX_FULL_STATES) {
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

  /** Nobody is at work. */
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
