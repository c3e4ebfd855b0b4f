/** What a piece of work took. */
import type { BenchEvent, Clock } from '../events.ts'
import { EVENT_COUNT, STEP_MS } from '../events.ts'

/** CPU time of this thread in ms; what the collector does on threads of its own is not in it. */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** Heap in use after a full collection, bytes. Throws without `--expose-gc`. */
export function heapUsed(): number {
  const collect = globalThis.gc
  if (collect === undefined) throw new Error('memory: node must run with --expose-gc')
  collect()
  collect()
  return process.memoryUsage().heapUsed
}

/** largest resident set of the process so far, bytes */
export function peakRss(): number {
  return process.resourceUsage().maxRSS * 1024
}

export interface Driven {
  /** Takes one event after the other; a promise is awaited before the next one when `waits` says so. */
  handle(event: BenchEvent): unknown
  waits: boolean
  /** Lets everything end that is still under way. Called after each batch, and within it after each wave. */
  drain?(): Promise<void>
}

/** Drives events through a subject in batches, cycled, and counts how many it has taken in all. */
export class Driver {
  /** events so far */
  taken = 0
  // Batches grow until one takes 10 ms, so that reading the CPU time costs nothing beside it.
  #batch = 1
  readonly #subject: Driven
  readonly #events: readonly BenchEvent[]
  readonly #clock: Clock
  readonly #wave: number

  /** `wave`: so many events at a time; default: a batch */
  constructor(subject: Driven, events: readonly BenchEvent[], clock: Clock, wave = Number.POSITIVE_INFINITY) {
    this.#subject = subject
    this.#events = events
    this.#clock = clock
    this.#wave = wave
  }

  /** Goes on until the budget is spent: ms of CPU time, or twice as much by the clock for who computes elsewhere. */
  async spend(budgetMs: number): Promise<{ events: number; cpuMs: number; wallMs: number }> {
    const subject = this.#subject
    const first = this.taken
    const wallStart = performance.now()
    const start = cpuMs()
    let spent = 0
    let wall = 0
    while (spent < budgetMs && wall < 2 * budgetMs) {
      const before = wall
      const until = this.taken + this.#batch
      while (this.taken < until) {
        const to = Math.min(until, this.#nextWave())
        if (subject.waits) await runWaiting(subject, this.#events, this.#clock, this.taken, to)
        else run(subject, this.#events, this.#clock, this.taken, to)
        await subject.drain?.()
        this.taken = to
      }
      spent = cpuMs() - start
      wall = performance.now() - wallStart
      if (wall - before < 10) this.#batch *= 2
    }
    return { events: this.taken - first, cpuMs: spent, wallMs: wall }
  }

  /** Waves begin at multiples of their size, wherever batches end. */
  #nextWave(): number {
    const wave = this.#wave
    return wave === Number.POSITIVE_INFINITY ? wave : (Math.floor(this.taken / wave) + 1) * wave
  }
}

function run({ handle }: Driven, events: readonly BenchEvent[], clock: Clock, from: number, to: number): void {
  for (let i = from; i < to; i++) {
    clock.now += STEP_MS
    const event = events[i & (EVENT_COUNT - 1)]
    if (event !== undefined) handle(event)
  }
}

async function runWaiting(
  { handle }: Driven,
  events: readonly BenchEvent[],
  clock: Clock,
  from: number,
  to: number,
): Promise<void> {
  for (let i = from; i < to; i++) {
    clock.now += STEP_MS
    const event = events[i & (EVENT_COUNT - 1)]
    if (event !== undefined) await handle(event)
  }
}
