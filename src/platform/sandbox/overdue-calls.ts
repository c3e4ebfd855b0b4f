/**
 * Overdue calls of a process. Each ends alone: the program is notified, and a late answer is ignored. The process ends
 * when it does not answer a ping either.
 */
import type { StartTimer } from '#kernel'

export interface OverdueOptions {
  readonly pingMs: number
  readonly later: StartTimer
  readonly send: (order: { readonly cancel: number } | { readonly ping: number }) => void
  readonly end: (why: string) => void
  readonly answers: () => void
}

/** overdue calls that never end, per process: bounds the memory of the host */
const MAX_OVERDUE = 10_000

export class OverdueCalls {
  readonly #options: OverdueOptions
  readonly #calls = new Set<number>()
  #pings = 0
  #callOff: (() => void) | undefined

  constructor(options: OverdueOptions) {
    this.#options = options
  }

  add(call: number, ms: number): void {
    const { pingMs, later, send, end } = this.#options
    this.#calls.add(call)
    if (this.#calls.size > MAX_OVERDUE) return end(`more than ${MAX_OVERDUE} of its calls never ended`)
    send({ cancel: call })
    // one answer covers all earlier calls
    if (this.#callOff !== undefined) return
    send({ ping: ++this.#pings })
    const why = `it did not answer a ping within ${pingMs} ms, after one of its calls did not answer within ${ms} ms`
    this.#callOff = later(pingMs, () => end(why))
  }

  get isAsking(): boolean {
    return this.#callOff !== undefined
  }

  answered(call: number): boolean {
    return this.#calls.delete(call)
  }

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
