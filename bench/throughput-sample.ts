/** One sample: a workload through a subject in this process, which does nothing else. */
import { EVENT_COUNT, START_MS, STEP_MS, type BenchEvent, type Clock } from './events.ts'
import { subjects } from './subjects/index.ts'
import type { Running } from './subject.ts'
import { workloads } from './workloads/index.ts'

export interface ThroughputSample {
  /** events that were measured, warm-up not counted */
  events: number
  /** CPU time of the main thread for them, ms */
  cpuMs: number
  /** firings, warm-up counted; equal to the reference, or there is no sample */
  firings: number
}

const WARM_UP_MS = 400

/** CPU time of this thread in ms; what the collector does on threads of its own is not in it. */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

export async function throughputSample(
  workloadName: string,
  subjectName: string,
  measureMs: number,
): Promise<ThroughputSample> {
  const workload = workloads.get(workloadName)?.()
  const entry = subjects.find((candidate) => candidate.name === subjectName)
  if (workload === undefined || entry === undefined) {
    throw new Error(`there is no workload "${workloadName}" or no subject "${subjectName}"`)
  }
  const clock: Clock = { now: START_MS }
  const subject = await entry.load()
  const running = await subject(workload, clock)
  const { events } = workload

  // Batches grow until one takes 10 ms, so that reading the CPU time costs nothing beside it.
  let batch = 1
  let taken = 0
  const spend = async (budgetMs: number) => {
    const first = taken
    const start = cpuMs()
    let spent = 0
    while (spent < budgetMs) {
      const before = spent
      if (running.waits) await runWaiting(running, events, clock, taken, taken + batch)
      else run(running, events, clock, taken, taken + batch)
      taken += batch
      spent = cpuMs() - start
      if (spent - before < 10) batch *= 2
    }
    return { events: taken - first, cpuMs: spent }
  }

  await spend(WARM_UP_MS)
  const measured = await spend(measureMs)

  await running.finish?.()
  const firings = running.fired()
  const expected = workload.expected(taken)
  if (firings !== expected) {
    throw new Error(
      `${workloadName}, ${subjectName}: fired ${firings} times in ${taken} events, the reference says ${expected}`,
    )
  }
  return { ...measured, firings }
}

function run(running: Running, events: readonly BenchEvent[], clock: Clock, from: number, to: number): void {
  for (let i = from; i < to; i++) {
    clock.now += STEP_MS
    const event = events[i & (EVENT_COUNT - 1)]
    if (event !== undefined) void running.handle(event)
  }
}

async function runWaiting(
  running: Running,
  events: readonly BenchEvent[],
  clock: Clock,
  from: number,
  to: number,
): Promise<void> {
  for (let i = from; i < to; i++) {
    clock.now += STEP_MS
    const event = events[i & (EVENT_COUNT - 1)]
    if (event !== undefined) await running.handle(event)
  }
}
