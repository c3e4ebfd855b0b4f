/**
 * Calls of a process that were over their time. Each of them is ended by itself: the program is told, and what it answers
 * later is not waited for. The process ends when it cannot take anything any more: then it does not answer a ping.
 */
import type { StartTimer } from '#kernel'

export interface OverdueOptions {
  readonly pingMs: number
  readonly later: StartTimer
  readonly send: (order: { readonly cancel: number } | { readonly ping: number }) => void
  readonly end: (why: string) => void
  /** It has answered a ping. */
  readonly answers: () => void
}

/** that never end, of one process: what the program keeps for them is its own memory, what the host keeps is bounded */
const MAX_OVERDUE = 10_000

export class OverdueCalls {
  readonly #options: OverdueOptions
  readonly #calls = new Set<number>()
  #pings = 0
  #callOff: (() => void) | undefined

  constructor(options: OverdueOptions) {
    this.#options = options
  }

  /** A call did not end in its time of so many ms. */
  add(call: number, ms: number): void {
    const { pingMs, later, send, end } = this.#options
    this.#calls.add(call)
    if (this.#calls.size > MAX_OVERDUE) return end(`more than ${MAX_OVERDUE} calls of it never ended`)
    send({ cancel: call })
    // one answer speaks for all that were sent before it
    if (this.#callOff !== undefined) return
    send({ ping: ++this.#pings })
    const why = `it did not answer a ping within ${pingMs} ms, after another call of it did not answer within ${ms} ms`
    this.#callOff = later(pingMs, () => end(why))
  }

  /** Whether a ping is open: nobody knows whether the process takes anything. */
  get isAsking(): boolean {
    return this.#callOff !== undefined
  }

  /** Whether such a call was over its time; it is not any more. */
  answered(call: number): boolean {
    return this.#calls.delete(call)
  }

  /** Whether a ping was open that has that number. */
  ponged(ping: number): boolean {
    if (ping !== this.#pings || this.#callOff === undefined) return false
    this.stop()
    this.#options.answers()
    return true
  }

  stop(): void {
    this.#callOff?.()
    this.#callOff = undefined
  }
}
