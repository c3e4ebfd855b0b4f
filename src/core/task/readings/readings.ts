/**
 * What a task knows of the times of its readings, once a message with a time of its own has come: when each resource was
 * measured last and how long that took to come, the time of the task, and what was not taken.
 *
 * READING-1 a reading is late for a sensor that has taken a newer one of the resource; one of equal time is not.
 * READING-2 a duplicate, and a late reading that is dropped, move no time, set no lag and run nothing.
 * READING-3 the time of a task never goes back.
 */

import { RecentReadings } from './recent.ts'
import { Reordering } from './reorder.ts'

/** The newest reading of one resource. */
export interface NewestReading {
  /** epoch ms at which it was measured */
  readonly time: number
  /** ms that it took to come */
  readonly lag: number
}

export interface ReadingCounts {
  /** a sensor had taken a newer one */
  late: number
  /** they were taken before */
  duplicate: number
  /** older than what the task has taken, and not late: taken at the time of the task */
  skewed: number
  /** taken, and not known any more if they come again: too many were remembered in all tasks. Absent: none */
  forgotten?: number
}

export class Readings {
  /** epoch ms of the last input, -Infinity before the first */
  time: number
  /** epoch ms of the clock at which that input was there to be taken */
  clock: number
  readonly newest = new Map<string, NewestReading>()
  /** late readings in a row, by resource */
  readonly inRow = new Map<string, number>()
  /** resources of which it was said that only some of their messages are stamped */
  readonly mixed = new Set<string>()
  /** what was taken last, by resource: of a task that takes late readings */
  readonly recent = new Map<string, RecentReadings>()
  readonly counts: ReadingCounts = { late: 0, duplicate: 0, skewed: 0 }

  /** readings that wait to be put in order */
  readonly reordering: Reordering
  /** messages that run nothing: what they say is there for inputs of their times, not for a timer that is due before */
  readonly ahead = new Reordering(0, () => 0)

  /** `last`: epoch ms of the last input of the task so far, negative before the first; `wait`: ms that readings wait. */
  constructor(last: number, wait: number) {
    this.reordering = new Reordering(wait, (resource) => this.newest.get(resource)?.lag ?? 0)
    this.time = last < 0 ? Number.NEGATIVE_INFINITY : last
    this.clock = this.time
  }

  /** A copy without waiting readings and without the memory of recent ones. */
  copy(): Readings {
    const copy = new Readings(-1, 0)
    copy.time = this.time
    copy.clock = this.clock
    for (const [resource, newest] of this.newest) copy.newest.set(resource, newest)
    for (const [resource, count] of this.inRow) copy.inRow.set(resource, count)
    for (const resource of this.mixed) copy.mixed.add(resource)
    Object.assign(copy.counts, this.counts)
    return copy
  }

  /** What was measured before counts for nothing; time and counts stay. */
  forgetTimes(): void {
    this.newest.clear()
    this.inRow.clear()
    this.mixed.clear()
    this.recent.clear()
  }

  /**
   * Forgets what was taken before a time, epoch ms, so that it is not known if it comes again; counts what was taken at
   * `since` or later. Gives how many those are.
   */
  forgetRecent(before: number, since: number): number {
    let count = 0
    for (const [resource, recent] of this.recent) {
      recent.forgetBefore(Math.min(since, before))
      count += recent.forgetBefore(before)
      if (recent.oldest === Number.POSITIVE_INFINITY) this.recent.delete(resource)
      else recent.shrink()
    }
    if (count > 0) this.counts.forgotten = (this.counts.forgotten ?? 0) + count
    return count
  }

  /** Those of a resource. */
  recentOf(resource: string): RecentReadings {
    const recent = this.recent.get(resource) ?? new RecentReadings()
    this.recent.set(resource, recent)
    return recent
  }

  /** A reading has come, whatever becomes of it. */
  arrived(resource: string, time: number, arrival: number): void {
    const newest = this.newest.get(resource)
    if (newest === undefined || time > newest.time) this.newest.set(resource, { time, lag: arrival - time })
  }

  /** Whether a reading of that time comes after an input of a later time. */
  isBehind(time: number): boolean {
    return time < this.time
  }

  /** The time of what has none: that of the task and what has passed on the clock since, but not beyond `next`, what comes next. */
  elapsed(clock: number, next: number): number {
    if (this.time === Number.NEGATIVE_INFINITY) return clock
    return Math.max(this.time, Math.min(this.time + clock - this.clock, next))
  }

  /** An input is taken. */
  took(time: number, clock: number): void {
    this.time = time
    this.clock = Math.max(this.clock, clock)
  }

  /** ms by which the clock was ahead when the input at hand was there to be taken: its timers wait so much longer. */
  get lag(): number {
    return Math.max(0, this.clock - this.time)
  }
}
