/** The time that something has: begun by whoever carries it out, and begun anew by whoever sees it get on. */
import type { StartTimer } from './start-timer.ts'

export class RenewableTimer {
  #begin: (() => () => void) | undefined
  #callOff: (() => void) | undefined

  /** It has its whole time again; nothing once it is over. */
  renew(): void {
    this.#callOff?.()
    this.#callOff = this.#begin?.()
  }

  /** By whoever carries it out. */
  begin(later: StartTimer, ms: number, overdue: () => void): void {
    // not assigned where it is written: V8 makes such a function in the old space, where it holds all of its call for long
    const begin = () => later(ms, overdue)
    this.#begin = begin
    this.#callOff = begin()
  }

  /** By whoever carries it out. */
  end(): void {
    this.#begin = undefined
    this.#callOff?.()
    this.#callOff = undefined
  }
}
