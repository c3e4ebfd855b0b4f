/**
 * Tracks times of a task's readings, from the first message with a timestamp on.
 *
 * READING-1 a reading is late for a sensor that has processed a newer one of the resource; a reading of equal time is
 *   not late.
 * READING-2 a duplicate, and a late reading that is dropped, move no time, set no lag and run nothing.
 * READING-3 the time of a task never goes back.
 */

import { RecentReadings } from './recent.ts'
import { Reordering } from './reorder.ts'

export interface NewestReading {
  readonly time: number
  /** time from measurement to arrival, ms */
  readonly lag: number
}

export interface ReadingCounts {
  late: number
  duplicate: number
  /** readings older than the time of the task, but not late: processed at the time of the task */
  skewed: number
  /** processed readings whose repetition is no longer recognized; absent: none */
  forgotten?: number
}

export class Readings {
  /** time of the last input, epoch ms; -Infinity before the first */
  time: number
  /** epoch ms of the clock when that input could first be processed */
  clock: number
  readonly newest = new Map<string, NewestReading>()
  readonly inRow = new Map<string, number>()
  /** resources for which a warning was logged that only some of their messages have timestamps */
  readonly mixed = new Set<string>()
  readonly recent = new Map<string, RecentReadings>()
  readonly counts: ReadingCounts = { late: 0, duplicate: 0, skewed: 0 }

  readonly reordering: Reordering
  /** messages that run nothing: their values are for inputs of their times, but not for a timer that is due before */
  readonly ahead = new Reordering(0, () => 0)

  /** `last`: epoch ms of the task's last input, negative before the first; `wait`: ms for which readings wait. */
  constructor(last: number, wait: number) {
    this.reordering = new Reordering(wait, (resource) => this.newest.get(resource)?.lag ?? 0)
    this.time = last < 0 ? Number.NEGATIVE_INFINITY : last
    this.clock = this.time
  }

  /** Copies everything except waiting and recent readings. */
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

  /** Forgets measurement times; the task's time and counts stay. */
  forgetTimes(): void {
    this.newest.clear()
    this.inRow.clear()
    this.mixed.clear()
    this.recent.clear()
  }

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

  isBehind(time: number): boolean {
    return time < this.time
  }

  /** The time of an input without measurement time: the task's plus what passed on the clock, at most `next`. */
  elapsed(clock: number, next: number): number {
    if (this.time === Number.NEGATIVE_INFINITY) return clock
    return Math.max(this.time, Math.min(this.time + clock - this.clock, next))
  }

  took(time: number, clock: number): void {
    this.time = time
    this.clock = Math.max(this.clock, clock)
  }

  /** Returns the ms by which the clock was ahead of the input at first; its timers wait longer by that time. */
  get lag(): number {
    return Math.max(0, this.clock - this.time)
  }
}
