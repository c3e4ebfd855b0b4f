/** Measures within one process: messages per second of CPU time, garbage collection, and lateness at a given rate. */
import { createHistogram, PerformanceObserver } from 'node:perf_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { LatencySample, RateSample } from './request.ts'
import type { Cursor, Driven, Feed } from './subject.ts'

const WARM_UP_MS = 300
/** number of open plug calls at which messages wait, well below a task's queue limit */
const MAX_OPEN = 256
/** ms between event loop turns while waiting for messages */
const TURN_MS = 5

export class Driver {
  taken = 0
  // Stretches grow until one takes 10 ms, so that reading the CPU time costs little in comparison.
  #stretch = 1
  readonly #driven: Driven
  readonly #cursor: Cursor

  constructor(driven: Driven, feed: Feed) {
    this.#driven = driven
    this.#cursor = feed.cursor()
  }

  take(): void {
    const cursor = this.#cursor
    this.#driven.take(cursor.message, cursor.time)
    cursor.next()
    this.taken++
  }

  async run(count: number): Promise<void> {
    const driven = this.#driven
    const until = this.taken + count
    while (this.taken < until) {
      // Not checked after each message, which would add a fifth to a short one although the engine does not need it.
      for (let room = MAX_OPEN - driven.open; room > 0 && this.taken < until; room = MAX_OPEN - driven.open) {
        const to = Math.min(until, this.taken + room)
        while (this.taken < to) this.take()
      }
      if (driven.open > 0) await driven.settled()
    }
  }

  /** Runs for the given ms of CPU time, or at most twice as long in real time. */
  async spend(budgetMs: number): Promise<Pick<RateSample, 'messages' | 'cpuMs' | 'otherCpuMs' | 'wallMs'>> {
    const first = this.taken
    const begun = performance.now()
    const cpu = threadMs()
    const all = processMs()
    let cpuMs = 0
    let wallMs = 0
    while (cpuMs < budgetMs && wallMs < 2 * budgetMs) {
      const before = wallMs
      await this.run(this.#stretch)
      cpuMs = threadMs() - cpu
      wallMs = performance.now() - begun
      if (wallMs - before < 10) this.#stretch *= 2
    }
    return { messages: this.taken - first, cpuMs, otherCpuMs: Math.max(0, processMs() - all - cpuMs), wallMs }
  }

  warmUp(measureMs: number): Promise<unknown> {
    return this.spend(Math.min(WARM_UP_MS, measureMs))
  }
}

export async function measureRate(driven: Driven, feed: Feed, measureMs: number): Promise<RateSample> {
  const driver = new Driver(driven, feed)
  await driver.warmUp(measureMs)
  const before = driven.ways()
  const heardBefore = driven.heard
  const collector = new CollectorWatch()
  const spent = await driver.spend(measureMs)
  const collected = await collector.end()
  const after = driven.ways()
  return {
    ...spent,
    ...collected,
    bytes: await bytesPerMessage(driver),
    heard: driven.heard - heardBefore,
    ...(before !== undefined && after !== undefined && { ways: waysBetween(before, after) }),
  }
}

type Ways = NonNullable<RateSample['ways']>

function waysBetween(before: Ways, after: Ways): Ways {
  const reasons = Object.keys(after.why) as (keyof Ways['why'])[]
  return {
    vectorized: after.vectorized - before.vectorized,
    rows: after.rows - before.rows,
    plain: after.plain - before.plain,
    why: Object.fromEntries(reasons.map((reason) => [reason, after.why[reason] - before.why[reason]])) as Ways['why'],
  }
}

class CollectorWatch {
  #collections = 0
  #ms = 0
  readonly #from = performance.now()
  #until = Number.POSITIVE_INFINITY
  readonly #observer = new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) {
      if (startTime < this.#from || startTime > this.#until) continue
      this.#collections++
      this.#ms += duration
    }
  })

  constructor() {
    this.#observer.observe({ entryTypes: ['gc'] })
  }

  async end(): Promise<{ collections: number; collectionMs: number }> {
    this.#until = performance.now()
    await nextTurn()
    await nextTurn()
    this.#observer.disconnect()
    return { collections: this.#collections, collectionMs: this.#ms }
  }
}

const STRETCHES = 9
const MAX_MESSAGES = 65_536
/** bytes per stretch: much more than reading the heap costs, and much less than what starts a collection */
const ENOUGH_BYTES = 200_000

/** Measures heap bytes per message, in stretches too short for a collection. Returns NaN without `--expose-gc`. */
async function bytesPerMessage(driver: Driver): Promise<number> {
  const collect = globalThis.gc
  if (collect === undefined) return Number.NaN
  const grown = async (count: number): Promise<number> => {
    const before = process.memoryUsage().heapUsed
    await driver.run(count)
    return process.memoryUsage().heapUsed - before
  }
  collect()
  let count = 64
  while (count < MAX_MESSAGES && (await grown(count)) < ENOUGH_BYTES) count *= 2
  const stretches: number[] = []
  for (let i = 0; i < STRETCHES; i++) {
    collect()
    stretches.push((await grown(count)) / count)
  }
  stretches.sort((a, b) => a - b)
  return Math.max(0, stretches[(STRETCHES - 1) / 2] ?? 0)
}

/** Even if earlier ones are unfinished. Busy-waits, because timers are less accurate than most rules are fast. */
export async function measureLatency(
  driven: Driven,
  feed: Feed,
  rate: number,
  measureMs: number,
): Promise<LatencySample> {
  const driver = new Driver(driven, feed)
  await driver.warmUp(measureMs)
  const histogram = createHistogram({ figures: 3 })
  const total = Math.max(1, Math.round((rate * measureMs) / 1000))
  const apart = 1000 / rate
  let taken = 0
  let turn = performance.now()
  const begun = turn
  while (taken < total) {
    const now = performance.now()
    const due = Math.min(total, Math.floor((now - begun) / apart) + 1)
    while (taken < due) {
      driver.take()
      if (driven.open >= MAX_OPEN) await driven.settled()
      const late = performance.now() - begun - taken * apart
      histogram.record(Math.max(1, Math.round(late * 1e6)))
      taken++
    }
    if (now - turn < TURN_MS) continue
    await nextTurn()
    turn = performance.now()
  }
  await driven.settled()
  const micros = (percentile: number) => histogram.percentile(percentile) / 1000
  return {
    rate,
    messages: total,
    p50: micros(50),
    p90: micros(90),
    p99: micros(99),
    p999: micros(99.9),
    max: histogram.max / 1000,
  }
}

/** Returns the CPU time of this thread in ms; before Node 23.9, that of the process. */
function threadMs(): number {
  const { user, system } = (process.threadCpuUsage ?? process.cpuUsage)()
  return (user + system) / 1000
}

function processMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
