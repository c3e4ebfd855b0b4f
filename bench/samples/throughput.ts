/** One sample: a workload through a subject in this process, which does nothing else. */
import { EVENT_COUNT, START_MS, type BenchEvent, type Clock } from '../events.ts'
import type { Running } from '../subject.ts'
import { subjectNamed } from '../subjects/index.ts'
import { workloadNamed } from '../workloads/index.ts'
import { cpuMs, Driver, warmUp, type Driven, type Spent } from './spent.ts'

/** How events come in: as objects, as JSON text that is parsed first, or through a call that is awaited each time. */
export type Feed = 'object' | 'text' | 'awaited'

export interface ThroughputSample extends Spent {
  /** firings, warm-up counted; equal to the reference, or there is no sample */
  firings: number
  /** CPU time of the main thread to set the subject up, ms */
  setUpMs: number
}

/** Throws when the number of firings is not that of the reference. */
export async function throughputSample(request: {
  workload: string
  subject: string
  feed: Feed
  measureMs: number
}): Promise<ThroughputSample> {
  const workload = workloadNamed(request.workload)
  const clock: Clock = { now: START_MS, stamp: 0 }
  const subject = await subjectNamed(request.subject).load()
  const setUpStart = cpuMs()
  const running = await subject(workload, clock)
  const setUpMs = cpuMs() - setUpStart

  const driver = new Driver(fed(running, workload.events, request.feed), workload.events, clock, workload.wave)
  await warmUp(driver, workload, request.measureMs)
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

function fed(running: Running, events: readonly BenchEvent[], feed: Feed): Driven<BenchEvent> {
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
