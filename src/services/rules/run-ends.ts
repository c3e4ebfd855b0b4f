/** Stores the ends of runs in the documents of their tasks, retrying while the store is unavailable. */
import { isAway, type Logger, messageOf, RepeatableWork, type StartTimer } from '#kernel'
import type { EndedRun } from './runner.ts'

const RETRY_MS = 1000

export interface RunEndsDependencies {
  store(run: EndedRun): Promise<void>
  readonly startTimer: StartTimer
  readonly logger: Logger | undefined
}

export class RunEnds {
  readonly #dependencies: RunEndsDependencies
  readonly #work: RepeatableWork
  readonly #waiting: EndedRun[] = []

  constructor(dependencies: RunEndsDependencies) {
    this.#dependencies = dependencies
    this.#work = new RepeatableWork({
      work: () => this.#storeAll(),
      later: dependencies.startTimer,
      retryMs: RETRY_MS,
      failed: () => undefined,
    })
  }

  note(run: EndedRun): void {
    this.#waiting.push(run)
    this.#work.wake()
  }

  stop(): Promise<void> {
    return this.#work.stop()
  }

  async #storeAll(): Promise<void> {
    const stored = await Promise.allSettled(this.#waiting.splice(0).map((run) => this.#store(run)))
    for (const one of stored) if (one.status === 'rejected') throw one.reason
  }

  async #store(run: EndedRun): Promise<void> {
    const { store, logger } = this.#dependencies
    try {
      await store(run)
    } catch (error) {
      if (isAway(error)) {
        this.#waiting.push(run)
        throw error
      }
      logger?.error(`the end of task ${run.id} was not stored: ${messageOf(error)}`)
    }
  }
}
