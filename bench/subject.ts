/** Subjects of the benchmarks: they take events one by one and count the firings of their actuators. */
import type { BenchEvent, Clock } from './events.ts'
import type { Spent } from './samples/spent.ts'
import type { Workload } from './workload.ts'

export interface ThroughputSample extends Spent {
  firings: number
  /** CPU time of the main thread for the set-up, ms */
  setUpMs: number
}

/** Sample of a workload by an external program. Throws when the number of firings differs from the reference. */
export type Program = (workload: Workload, measureMs: number) => Promise<ThroughputSample>

export interface Running {
  handle(this: void, event: BenchEvent): void | Promise<unknown>
  /** whether `handle` returns promises */
  waits: boolean
  fired(): number
  /** Finishes work in flight, for subjects that queue events. */
  drain?(this: void): Promise<void>
  /** Checks of the subject after the run; throws on a failure. */
  finish?(): void | Promise<void>
}

export type Subject = (workload: Workload, clock: Clock) => Running | Promise<Running>
