/**
 * Times of a task's readings, once a message with a time of its own has come: the newest measurement of each resource
 * and its lag, the time of the task, and counts of readings that were not taken.
 *
 * READING-1 a reading is late for a sensor that has taken a newer one of the resource; one of equal time is not.
 * READING-2 a duplicate, and a late reading that is dropped, move no time, set no lag and run nothing.
 * READING-3 the time of a task never goes back.
 */

import { RecentReadings } from './recent.ts'
import { Reordering } from './reorder.ts'

export interface NewestReading {
  readonly time: number
  /** ms from measurement to arrival */
  readonly lag: number
}

export interface ReadingCounts {
  late: number
  duplicate: number
  /** readings before the time of the task, but not late: taken at the time of the task */
  skewed: number
  /** taken readings that are no longer recognized when repeated: too many were remembered in all tasks. Absent: none */
  forgotten?: number
}

export class Readings {
  /** epoch ms of the last input, -Infinity before the first */
  time: number
  /** epoch ms of the clock at which that input could be taken */
  clock: number
  readonly newest = new Map<string, NewestReading>()
  readonly inRow = new Map<string, number>()
  /** resources with a logged warning that only some of their messages have timestamps */
  readonly mixed = new Set<string>()
  readonly recent = new Map<string, RecentReadings>()
  readonly counts: ReadingCounts = { late: 0, duplicate: 0, skewed: 0 }

  readonly reordering: Reordering
  /** messages that run nothing: their values are for inputs of their times, not for a timer that is due before */
  readonly ahead = new Reordering(0, () => 0)

  /**
   * `last`: epoch ms of the last input of the task so far, negative before the first; `wait`: ms that readings wait.
   */
  constructor(last: number, wait: number) {
    this.reordering = new Reordering(wait, (resource) => this.newest.get(resource)?.lag ?? 0)
    this.time = last < 0 ? Number.NEGATIVE_INFINITY : last
    this.clock = this.time
  }

  /** A copy without waiting readings and recent ones. */
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

  /** Forgets measurements; time and counts stay. */
  forgetTimes(): void {
    this.newest.clear()
    this.inRow.clear()
    this.mixed.clear()
    this.recent.clear()
  }

  /** Forgets readings from before a time, epoch ms; returns how many of them were taken at `since` or later. */
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

  recentOf(resource: string): RecentReadings {
    const recent = this.recent.get(resource) ?? new RecentReadings()
    this.recent.set(resource, recent)
    return recent
  }

  arrived(resource: string, time: number, arrival: number): void {
    const newest = this.newest.get(resource)
    if (newest === undefined || time > newest.time) this.newest.set(resource, { time, lag: arrival - time })
  }

  /** Whether an input of a later time was taken. */
  isBehind(time: number): boolean {
    return time < this.time
  }

  /**
   * The time of an input without its own: that of the task plus what has passed on the clock since, at most `next`, the
   * time of what comes next.
   */
  elapsed(clock: number, next: number): number {
    if (this.time === Number.NEGATIVE_INFINITY) return clock
    return Math.max(this.time, Math.min(this.time + clock - this.clock, next))
  }

  took(time: number, clock: number): void {
    this.time = time
    this.clock = Math.max(this.clock, clock)
  }

  /** ms by which the clock was ahead when the present input could be taken: its timers wait so much longer. */
  get lag(): number {
    return Math.max(0, this.clock - this.time)
  }
}
