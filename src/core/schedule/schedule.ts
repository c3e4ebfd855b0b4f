/**
 * Schedule of a task: a pure function from an instant to the next occurrence (settings `type`, `frequency`, `cron`,
 * `rrule`, `timeZone`). It never reads a clock, so simulated and live runs agree.
 *
 * Instants are epoch milliseconds. A local time is also in milliseconds: the wall clock read as if it were UTC.
 */
import type { DstPolicy } from '../rule/rule.ts'

export type ScheduleSettings = {
  start: number
  /** IANA name or offset, default UTC */
  timeZone?: string
  dst?: DstPolicy
} & (
  | {
      type: 'periodic'
      /** ms from 1 to a year */
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
  /** first occurrence strictly after the instant, in epoch ms; null when exhausted */
  next(after: number): number | null
  /** periodic and onetime: first occurrence at or after `start`, including the start itself; others: `next(start)` */
  first(start: number): number | null
  /** true: `next` takes the instant at which the last work ended */
  readonly fixedDelay?: boolean
  /** number of occurrences strictly between two instants, where it is computable without walking */
  tally?(after: number, before: number): Tally
  /** true: the start of the task decides only which occurrence is the first */
  readonly anyStart?: boolean
  /** local times behind the instants, if any, for explaining clock changes */
  readonly wallClock?: WallClock | undefined
}

/** First occurrence at or after an instant, unless the schedule counts from there. */
export function firstFrom(schedule: Schedule, start: number): number | null {
  return schedule.anyStart === true ? schedule.next(Math.ceil(start) - 1) : schedule.first(start)
}

export interface Tally {
  readonly count: number
  readonly isExact: boolean
}

/** Local times in ascending order, before conversion to instants. */
export interface LocalTimes {
  /** first local time strictly after the given one; null when exhausted */
  next(after: number): number | null
}

/** Parsed expression, independent of a zone. */
export interface Recurrence {
  readonly key: string
  readonly times: LocalTimes
  /** true: runs in every hour of its days, so also in a repeated one */
  readonly everyHour: boolean
  /** true: the start of the task does not affect the times */
  readonly anyStart: boolean
  /** bounds of the occurrences (epoch ms), regardless of the local times */
  readonly from?: number | undefined
  readonly until?: number | undefined
}

/** Period of a constant offset of a zone. Instants in epoch ms, offsets in ms east of UTC. */
export interface Stretch {
  from: number
  until: number
  offset: number
  /** offsets beyond either end */
  before: number
  after: number
}

export interface Zone {
  readonly name: string
  /** the stretch that holds an instant; the ends of the known years count as ends without a change */
  stretchAt(instant: number): Stretch
}

export interface WallClock {
  readonly times: LocalTimes
  readonly zone: Zone
  readonly dst: Required<DstPolicy>
}
