/**
 * Ends that runs came to by themselves, on their way into the documents of their tasks. What a store that is away keeps
 * from being written is tried again until it is; what is left at a stop the runner tells again at the next start.
 */
import { isAway, type Logger, messageOf, type StartTimer } from '#kernel'
import type { EndedRun } from './runner.ts'

/** ms until all that a store was away for are tried again */
const RETRY_MS = 1000

export interface RunEndsDependencies {
  /** Writes it; told twice it counts once. */
  store(run: EndedRun): Promise<void>
  readonly startTimer: StartTimer
  readonly logger: Logger | undefined
}

export class RunEnds {
  readonly #dependencies: RunEndsDependencies
  readonly #underWay = new Set<Promise<void>>()
  #waiting: EndedRun[] = []
  #cancelRetry: (() => void) | undefined
  #isStopped = false

  constructor(dependencies: RunEndsDependencies) {
    this.#dependencies = dependencies
  }

  note(run: EndedRun): void {
    const noting = this.#note(run).finally(() => this.#underWay.delete(noting))
    this.#underWay.add(noting)
  }

  /** Resolves when what is under way is stored, or cannot be. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelRetry?.()
    this.#waiting = []
    await Promise.all(this.#underWay)
  }

  async #note(run: EndedRun): Promise<void> {
    const { store, logger } = this.#dependencies
    try {
      await store(run)
    } catch (error) {
      if (isAway(error)) this.#wait(run)
      else logger?.error(`the end of task ${run.task.id} was not stored: ${messageOf(error)}`)
    }
  }

  #wait(run: EndedRun): void {
    if (this.#isStopped) return
    this.#waiting.push(run)
    this.#cancelRetry ??= this.#dependencies.startTimer(RETRY_MS, () => {
      this.#cancelRetry = undefined
      for (const one of this.#waiting.splice(0)) this.note(one)
    })
  }
}
