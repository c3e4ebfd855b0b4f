/** Ends the overdue calls of a process one by one; if the process does not answer a ping either, it ends. */
import type { StartTimer } from '#kernel'

export interface OverdueOptions {
  readonly pingMs: number
  readonly later: StartTimer
  readonly send: (order: { readonly cancel: number } | { readonly ping: number }) => void
  readonly end: (why: string) => void
  readonly answers: () => void
}

/** Maximum overdue calls per process that never end, which bounds the host's memory */
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
    if (this.#callOff !== undefined) return
    send({ ping: ++this.#pings })
    const why = `it did not respond to a ping within ${pingMs} ms, after one of its calls did not end within ${ms} ms`
    this.#callOff = later(pingMs, () => end(why))
  }

  get isPinging(): boolean {
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
