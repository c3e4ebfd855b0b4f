/** Runs background work, again if woken during a run, and retries it after a failure. */
import type { StartTimer } from './start-timer.ts'

export interface RepeatableWorkOptions {
  readonly work: () => Promise<void>
  readonly later: StartTimer
  readonly retryMs: number
  /** called once for each retry */
  readonly failed: (error: unknown) => void
}

export class RepeatableWork {
  readonly #options: RepeatableWorkOptions
  #isWoken = false
  #isStopped = false
  #running: Promise<void> | undefined
  #cancelRetry: (() => void) | undefined

  constructor(options: RepeatableWorkOptions) {
    this.#options = options
  }

  get isStopped(): boolean {
    return this.#isStopped
  }

  /** Starts a run, or schedules another run after the current one. Returns at once. */
  wake(): void {
    if (this.#isStopped) return
    this.#isWoken = true
    this.#running ??= this.#run()
  }

  postpone(error: unknown): void {
    if (this.#isStopped || this.#cancelRetry !== undefined) return
    this.#options.failed(error)
    this.#cancelRetry = this.#options.later(this.#options.retryMs, () => {
      this.#cancelRetry = undefined
      this.wake()
    })
  }

  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#cancelRetry?.()
    await this.idle()
  }

  async #run(): Promise<void> {
    try {
      while (this.#isWoken && !this.#isStopped) {
        this.#isWoken = false
        await this.#options.work()
      }
    } catch (error) {
      this.postpone(error)
    } finally {
      // cleared before returning, so that a later `wake` begins a new run
      this.#running = undefined
    }
  }
}
