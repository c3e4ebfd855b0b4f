/** Sample of a workload through a subject in this otherwise idle process. */
import { START_MS, type Clock } from '../events.ts'
import type { ThroughputSample } from '../subject.ts'
import { loadSubject, subjectNamed } from '../subjects/index.ts'
import { expectFirings } from '../workload.ts'
import { workloadNamed, type WorkloadName } from '../workloads.ts'
import { cpuMs, Driver, warmUp } from './spent.ts'

/** Throws when the number of firings differs from the reference. */
export async function throughputSample(request: {
  workload: WorkloadName
  subject: string
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

  const driver = new Driver(running, workload.events, clock, workload.wave)
  await warmUp(driver, workload, request.measureMs)
  const measured = await driver.spend(request.measureMs)

  await running.finish?.()
  const firings = running.fired()
  expectFirings(workload, request.subject, { firings, taken: driver.taken })
  return { ...measured, firings, setUpMs }
}
