/** Limits the work of a run for a request, including that of its scripts in other threads. */
import { AppError, Yielder } from '#kernel'
import { machineTimers } from '#platform'
import type { ScriptWork } from './script-work.ts'

const MAX_WORK_MS = 20_000
/** ms that plugs may take before the run continues without them */
const PATIENCE_MS = 10_000

export class RunBudget {
  readonly scripts: ScriptWork = { open: 0, took: 0 }
  readonly #signal: AbortSignal | undefined
  readonly #yielder = new Yielder(machineTimers)
  #worked = 0

  constructor(signal?: AbortSignal) {
    this.#signal = signal
  }

  get isOverdue(): boolean {
    return this.#worked + this.scripts.took > MAX_WORK_MS
  }

  /** Returns a promise only if others must run. `now`: where the run is, in epoch ms. Throws `TOO_LARGE`, `CLOSED`. */
  breathe(now: number): Promise<void> | undefined {
    const isOver = this.#yielder.isOver
    if (isOver) this.#worked += this.#yielder.spent
    this.requireRest(now)
    if (!isOver) return undefined
    return this.#yielder.next().then(() => {
      if (this.#signal?.aborted === true) throw new AppError('CLOSED', 'the client of the run has disconnected')
    })
  }

  requireRest(now: number): void {
    if (!this.isOverdue) return
    throw new AppError(
      'TOO_LARGE',
      `the run stopped after ${MAX_WORK_MS / 1000} s at ${new Date(now).toISOString()}; request less time, fewer messages or a slower clock`,
    )
  }

  /**
   * For a playback: scripts end by themselves after their time slice, so they are waited for, unless the client
   * disconnects.
   */
  readonly patience = (giveUp: () => void): (() => void) => {
    let cancel: () => void
    const wait = (): void => {
      cancel = machineTimers.later(PATIENCE_MS, () => {
        if (this.scripts.open > 0 && !this.isOverdue) wait()
        else giveUp()
      })
    }
    wait()
    if (this.#signal?.aborted === true) giveUp()
    this.#signal?.addEventListener('abort', giveUp, { once: true })
    return () => {
      cancel()
      this.#signal?.removeEventListener('abort', giveUp)
      this.#yielder.restart()
    }
  }
}
