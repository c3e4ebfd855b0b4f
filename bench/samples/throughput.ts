/** One sample: a workload through a subject in this process, which does nothing else. */
import { EVENT_COUNT, START_MS, type BenchEvent, type Clock } from '../events.ts'
import type { Running } from '../subject.ts'
import { subjectNamed } from '../subjects/index.ts'
import type { Workload } from '../workload.ts'
import { workloadNamed } from '../workloads/index.ts'
import { cpuMs, Driver, type Driven } from './spent.ts'

/** How events come in: as objects, as JSON text that is parsed first, or through a call that is awaited each time. */
export type Feed = 'object' | 'text' | 'awaited'

export interface ThroughputSample {
  /** events that were measured, warm-up not counted */
  events: number
  /** CPU time of the main thread for them, ms */
  cpuMs: number
  /** time for them by the clock, ms; more than `cpuMs` where threads compute or others use the machine */
  wallMs: number
  /** firings, warm-up counted; equal to the reference, or there is no sample */
  firings: number
  /** CPU time of the main thread to set the subject up, ms */
  setUpMs: number
}

const WARM_UP_MS = 400

/** Throws when the number of firings is not that of the reference. */
export async function throughputSample(request: {
  workload: string
  subject: string
  feed: Feed
  measureMs: number
}): Promise<ThroughputSample> {
  const workload = workloadNamed(request.workload)
  const clock: Clock = { now: START_MS }
  const subject = await subjectNamed(request.subject).load()
  const setUpStart = cpuMs()
  const running = await subject(workload, clock)
  const setUpMs = cpuMs() - setUpStart

  const driver = new Driver(fed(running, workload.events, request.feed), workload.events, clock, workload.wave)
  await warmUp(driver, workload, Math.min(WARM_UP_MS, request.measureMs))
  const measured = await driver.spend(request.measureMs)

  await running.finish?.()
  const firings = running.fired()
  const expected = workload.expected(driver.taken)
  if (firings !== expected) {
    throw new Error(
      `${request.workload}, ${request.subject}: fired ${firings} times in ${driver.taken} events, ` +
        `the reference says ${expected}`,
    )
  }
  return { ...measured, firings, setUpMs }
}

/** Where there are many rules, each has been met before it counts, unless that takes too long. */
async function warmUp(driver: Driver, workload: Workload, budgetMs: number): Promise<void> {
  await driver.spend(budgetMs)
  const many = workload.kind === 'threshold' && workload.onePerResource && workload.limits.length >= 1000
  if (!many) return
  for (let i = 0; i < 5 && driver.taken < EVENT_COUNT; i++) await driver.spend(WARM_UP_MS)
}

function fed(running: Running, events: readonly BenchEvent[], feed: Feed): Driven {
  const { handle } = running
  if (feed === 'object') return running
  if (feed === 'awaited') return { ...running, handle: async (event) => await handle(event), waits: true }
  const texts = events.map((event) => JSON.stringify(event))
  let next = 0
  return {
    ...running,
    handle() {
      // In step with the driver, which walks over the same events from the first one on.
      const text = texts[next++ & (EVENT_COUNT - 1)]
      return text === undefined ? undefined : handle(JSON.parse(text) as BenchEvent)
    },
  }
}
