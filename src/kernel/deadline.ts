/** Deadline that starts when its executor begins and restarts on progress. */
import type { StartTimer } from './start-timer.ts'

export class Deadline {
  #begin: (() => () => void) | undefined
  #callOff: (() => void) | undefined

  /** Restarts the full time; does nothing once the deadline has ended. */
  renew(): void {
    this.#callOff?.()
    this.#callOff = this.#begin?.()
  }

  begin(later: StartTimer, ms: number, overdue: () => void): void {
    // not assigned inline: V8 would allocate the closure in the old space, where it retains its whole call
    const begin = () => later(ms, overdue)
    this.#begin = begin
    this.#callOff = begin()
  }

  end(): void {
    this.#begin = undefined
    this.#callOff?.()
    this.#callOff = undefined
  }
}
