/** Work in the background: done again when it was asked for meanwhile, and later when it failed. */
import type { StartTimer } from './start-timer.ts'

export interface RepeatableWorkOptions {
  readonly work: () => Promise<void>
  readonly later: StartTimer
  /** ms until what failed is done again */
  readonly retryMs: number
  /** once for each pause */
  readonly failed: (error: unknown) => void
}

export class RepeatableWork {
  readonly #options: RepeatableWorkOptions
  #isAsked = false
  #isStopped = false
  #running: Promise<void> | undefined
  #cancelRetry: (() => void) | undefined

  constructor(options: RepeatableWorkOptions) {
    this.#options = options
  }

  get isStopped(): boolean {
    return this.#isStopped
  }

  /** Begins it, or has it done once more. Never waits. */
  wake(): void {
    if (this.#isStopped) return
    this.#isAsked = true
    this.#running ??= this.#run()
  }

  /** Something else failed that it mends. */
  postpone(error: unknown): void {
    if (this.#isStopped || this.#cancelRetry !== undefined) return
    this.#options.failed(error)
    this.#cancelRetry = this.#options.later(this.#options.retryMs, () => {
      this.#cancelRetry = undefined
      this.wake()
    })
  }

  /** Resolves when it is not under way; what failed is not waited for. */
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
      while (this.#isAsked && !this.#isStopped) {
        this.#isAsked = false
        await this.#options.work()
      }
    } catch (error) {
      this.postpone(error)
    } finally {
      // at once: who asks from here on begins it
      this.#running = undefined
    }
  }
}
