/** What is measured: something that takes events one by one and counts how often its actuators fired. */
import type { BenchEvent, Clock } from './events.ts'
import type { Spent } from './samples/spent.ts'
import type { Workload } from './workload.ts'

export interface ThroughputSample extends Spent {
  /** firings, warm-up counted; equal to the reference, or there is no sample */
  firings: number
  /** CPU time of the main thread to set the subject up, ms */
  setUpMs: number
}

/** A whole sample of a workload by a program of another kind. Throws when the number of firings is not the reference's. */
export type Program = (workload: Workload, measureMs: number) => Promise<ThroughputSample>

export interface Running {
  /** A promise is awaited before the next event; a plain return is not. */
  handle(this: void, event: BenchEvent): void | Promise<unknown>
  /** whether `handle` gives promises */
  waits: boolean
  fired(): number
  /** Lets everything end that is still under way, for subjects that take events before they have handled them. */
  drain?(this: void): Promise<void>
  /** Checks of the subject's own after the run; throws when something is wrong. */
  finish?(): void | Promise<void>
}

/** Sets a workload up. */
export type Subject = (workload: Workload, clock: Clock) => Running | Promise<Running>
