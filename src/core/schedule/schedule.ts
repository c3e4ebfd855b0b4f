/** Defines the schedule of a task: a pure function from an instant to the next occurrence, in epoch ms. */
import type { DstPolicy } from '../rule/rule.ts'

export type ScheduleSettings = {
  start: number
  /** IANA name or offset, default UTC */
  timeZone?: string
  dst?: DstPolicy
} & (
  | {
      type: 'periodic'
      /** ms, from 1 to a year */
      frequency: number
      /** default true; false: the period counts from the end of the last work */
      pollingFixedRate?: boolean
    }
  | { type: 'scheduled'; cron: string }
  | { type: 'scheduled'; rrule: string }
  | { type: 'onetime' }
  | { type: 'reactive' }
)

export interface Schedule {
  /** equal keys mean equal occurrences, so that tasks can share one stream */
  readonly key: string
  /** returns the first occurrence strictly after the instant, in epoch ms; null when exhausted */
  next(after: number): number | null
  /** for periodic and onetime: first at or after `start`, including `start` itself; for others: `next(start)` */
  first(start: number): number | null
  /** true: pass `next` the instant at which the last work ended */
  readonly fixedDelay?: boolean
  /** counts occurrences strictly between two instants; present if that is possible without iterating */
  tally?(after: number, before: number): Tally
  /** true: the start of the task only determines which occurrence is the first */
  readonly anyStart?: boolean
  /** local times behind the instants, if any; used to explain clock changes */
  readonly wallClock?: WallClock | undefined
}

/** Returns the first occurrence at or after an instant, or for a schedule that depends on its start, `first(start)`. */
export function firstFrom(schedule: Schedule, start: number): number | null {
  return schedule.anyStart === true ? schedule.next(Math.ceil(start) - 1) : schedule.first(start)
}

export interface Tally {
  readonly count: number
  readonly isExact: boolean
}

export interface LocalTimes {
  /** returns the first local time strictly after the given one; null when exhausted */
  next(after: number): number | null
}

/** A parsed expression, independent of a zone. */
export interface Recurrence {
  readonly key: string
  readonly times: LocalTimes
  /** true: runs in every hour of its days, and therefore also in a repeated hour */
  readonly everyHour: boolean
  /** true: the start of the task does not affect the times */
  readonly anyStart: boolean
  /** bounds of the occurrences (epoch ms), regardless of the local times */
  readonly from?: number | undefined
  readonly until?: number | undefined
}

/** A period during which a zone's offset is constant. Instants in epoch ms, offsets in ms east of UTC. */
export interface Stretch {
  from: number
  until: number
  offset: number
  /** offsets just before and just after the period */
  before: number
  after: number
}

export interface Zone {
  readonly name: string
  /** the period that contains an instant; at the ends of the known years the offset does not change */
  stretchAt(instant: number): Stretch
}

export interface WallClock {
  readonly times: LocalTimes
  readonly zone: Zone
  readonly dst: Required<DstPolicy>
}
