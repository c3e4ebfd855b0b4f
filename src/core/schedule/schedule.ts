/**
 * What a clock of a task is: a pure function from an instant to the next occurrence (settings `type`, `frequency`,
 * `cron`, `rrule`, `timeZone`). Nothing here reads a clock, so a simulated run and a live one agree.
 *
 * Instants are epoch milliseconds. A local time is a count of milliseconds too: the wall clock read as if it were UTC.
 */
import type { DstPolicy } from '../rule/rule.ts'

/** The clock settings of a task. `start` is the instant at which the task starts. */
export type ScheduleSettings = {
  start: number
  /** IANA name or offset form, default UTC */
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
  /** equal keys mean equal occurrences, so that tasks with equal keys can share one stream */
  readonly key: string
  /** first occurrence strictly after the instant, in epoch ms; null when there is none left */
  next(after: number): number | null
  /** periodic and onetime: the first occurrence at or after `start`, thus the start of the task itself; others: `next(start)` */
  first(start: number): number | null
  /** `next` then wants the instant at which the last work ended */
  readonly fixedDelay?: boolean
  /** how many occurrences lie strictly between two instants, where that is known without walking all of them */
  tally?(after: number, before: number): Tally
  /** the start of the task changes nothing but which occurrence is the first */
  readonly anyStart?: boolean
  /** the local times behind the instants, where there are any: for marking what a change of the clocks does to them */
  readonly wallClock?: WallClock | undefined
}

/** The first occurrence from an instant on, one at the instant itself too, unless the schedule counts from there. */
export function firstFrom(schedule: Schedule, start: number): number | null {
  return schedule.anyStart === true ? schedule.next(Math.ceil(start) - 1) : schedule.first(start)
}

/** A number of occurrences; a lower bound when it is not exact. */
export interface Tally {
  readonly count: number
  readonly isExact: boolean
}

/** Local times in ascending order, before a zone makes instants of them. */
export interface LocalTimes {
  /** first local time strictly after the given one; null when there is none left */
  next(after: number): number | null
}

/** What an expression says, before a zone is given. */
export interface Recurrence {
  /** equal keys mean equal local times */
  readonly key: string
  readonly times: LocalTimes
  /** in no hour of its days silent, so a repeated hour wants its runs too */
  readonly everyHour: boolean
  /** the start of the task takes no part in the times */
  readonly anyStart: boolean
  /** no occurrence before, and none after these instants (epoch ms), whatever the local times say */
  readonly from?: number | undefined
  readonly until?: number | undefined
}

/** A piece of a zone's history without a change of its offset. Instants in epoch ms, offsets in ms east of UTC. */
export interface Stretch {
  /** first instant of the stretch */
  from: number
  /** first instant after it */
  until: number
  offset: number
  /** the offsets on the far side of either end */
  before: number
  after: number
}

/** A time zone as the schedule needs it. Made by `parseZone`. */
export interface Zone {
  readonly name: string
  /** the stretch that an instant lies in; ends of the known years count as ends without a change */
  stretchAt(instant: number): Stretch
}

export interface WallClock {
  readonly times: LocalTimes
  readonly zone: Zone
  readonly dst: Required<DstPolicy>
}
