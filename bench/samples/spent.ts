/** Cost of a piece of work. */
import { stampOf } from '../../src/bench/firings.ts'
import { EVENT_COUNT, STEP_MS, type Clock } from '../events.ts'
import type { Workload } from '../workload.ts'

/** CPU time of this thread in ms, without the threads of the collector. */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

function processCpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Heap after a full collection, bytes. Throws without `--expose-gc`. */
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

export interface Spent {
  readonly events: number
  /** CPU time of the main thread, ms */
  readonly cpuMs: number
  /** CPU time of all other threads, ms: of the collector, the compiler, and subjects with threads */
  readonly otherCpuMs: number
  /** by the clock, ms; above `cpuMs` on a shared machine */
  readonly wallMs: number
}

export const WARM_UP_MS = 400

export interface Driven<Event> {
  /** Handles one event; with `waits` a promise is awaited before the next. */
  handle(event: Event): unknown
  waits: boolean
  /** Finishes work in flight. Called after each batch, and within it after each wave. */
  drain?(): Promise<void>
}

/** Drives cycled events through a subject in batches, and counts them. */
export class Driver<Event> {
  taken = 0
  // Batches grow until one takes 10 ms, so that reading the CPU time becomes negligible.
  #batch = 1
  readonly #subject: Driven<Event>
  readonly #events: readonly Event[]
  readonly #clock: Clock
  readonly #wave: number

  /** `wave`: events at a time; default: a batch */
  constructor(subject: Driven<Event>, events: readonly Event[], clock: Clock, wave = Number.POSITIVE_INFINITY) {
    this.#subject = subject
    this.#events = events
    this.#clock = clock
    this.#wave = wave
  }

  /**
   * Runs until the budget is spent: ms of CPU time, or twice as long by the clock for subjects that compute elsewhere.
   */
  async spend(budgetMs: number): Promise<Spent> {
    const subject = this.#subject
    const first = this.taken
    const wallStart = performance.now()
    const allStart = processCpuMs()
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
    const otherCpuMs = Math.max(0, processCpuMs() - allStart - spent)
    return { events: this.taken - first, cpuMs: spent, otherCpuMs, wallMs: wall }
  }

  take(count: number): void {
    run(this.#subject, this.#events, this.#clock, this.taken, this.taken + count)
    this.taken += count
  }

  #nextWave(): number {
    const wave = this.#wave
    return wave === Number.POSITIVE_INFINITY ? wave : (Math.floor(this.taken / wave) + 1) * wave
  }
}

function run<Event>({ handle }: Driven<Event>, events: readonly Event[], clock: Clock, from: number, to: number): void {
  for (let i = from; i < to; i++) {
    clock.now += STEP_MS
    clock.stamp = stampOf(i)
    const event = events[i & (EVENT_COUNT - 1)]
    if (event !== undefined) handle(event)
  }
}

async function runWaiting<Event>(
  { handle }: Driven<Event>,
  events: readonly Event[],
  clock: Clock,
  from: number,
  to: number,
): Promise<void> {
  for (let i = from; i < to; i++) {
    clock.now += STEP_MS
    clock.stamp = stampOf(i)
    const event = events[i & (EVENT_COUNT - 1)]
    if (event !== undefined) await handle(event)
  }
}

/** messages per rule before measuring: the first ones run on full states, and create rows of tasks */
const MET = 32
const MOST_WARM_UPS = 10

/** Warms up every rule of many, within a time limit. */
export async function warmUp<Event>(driver: Driver<Event>, workload: Workload, measureMs: number): Promise<void> {
  await driver.spend(Math.min(WARM_UP_MS, measureMs))
  const many = workload.kind === 'threshold' && workload.onePerResource && workload.limits.length >= 1000
  if (!many) return
  const enough = MET * workload.limits.length
  for (let i = 0; i < MOST_WARM_UPS && driver.taken < enough; i++) await driver.spend(WARM_UP_MS)
}
