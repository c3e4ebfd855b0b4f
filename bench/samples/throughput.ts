/** One sample: a workload through a subject in this process, which does nothing else. */
import { EVENT_COUNT, START_MS, type BenchEvent, type Clock } from '../events.ts'
import type { Running, ThroughputSample } from '../subject.ts'
import { loadSubject, subjectNamed } from '../subjects/index.ts'
import { expectFirings } from '../workload.ts'
import { workloadNamed } from '../workloads/index.ts'
import { cpuMs, Driver, warmUp, type Driven } from './spent.ts'

/** How events come in: as objects, as JSON text that is parsed first, or through a call that is awaited each time. */
export type Feed = 'object' | 'text' | 'awaited'

/** Throws when the number of firings is not that of the reference. */
export async function throughputSample(request: {
  workload: string
  subject: string
  feed: Feed
  measureMs: number
}): Promise<ThroughputSample> {
  const workload = workloadNamed(request.workload)
  const { program } = subjectNamed(request.subject)
  if (program !== undefined) return (await program())(workload, request.measureMs)
  const clock: Clock = { now: START_MS, stamp: 0 }
  const subject = await loadSubject(request.subject)
  const setUpStart = cpuMs()
  const running = await subject(workload, clock)
  const setUpMs = cpuMs() - setUpStart

  const driver = new Driver(fed(running, workload.events, request.feed), workload.events, clock, workload.wave)
  await warmUp(driver, workload, request.measureMs)
  const measured = await driver.spend(request.measureMs)

  await running.finish?.()
  const firings = running.fired()
  expectFirings(workload, request.subject, { firings, taken: driver.taken })
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
