/**
 * A window over numbers that come with their own time, and not always in its order. Its end is the newest of their
 * times; the engine's clock only says how much time has passed since that one came, for runs that bring no number.
 * Plain JSON that changes in place.
 */
import {
  emptyWindow,
  insertTo,
  MAX_SAMPLES,
  oldestAt,
  shiftFrom,
  sizeOf,
  type SlidingWindow,
} from './sliding-window.ts'

export interface TimedWindow {
  readonly window: SlidingWindow
  /** the newest time of all numbers so far, epoch ms; null before the first */
  newest: number | null
  /** when that one came, by the engine's clock */
  came: number
  /** numbers that came too late to count */
  late: number
}

/** How far a window reaches: numbers, ms, and ms that a number may be older than the newest. Infinity: no limit. */
export interface WindowReach {
  readonly samples: number
  readonly duration: number
  readonly lateness: number
}

export function timedWindow(window: SlidingWindow = emptyWindow()): TimedWindow {
  const newest = window.at.at(-1) ?? null
  return { window, newest, came: newest ?? 0, late: 0 }
}

/**
 * Takes a number in that was measured at `at` and came at `now`; false when it came too late, which is counted.
 * Numbers that are out of reach then are still there: `shiftOutOfReach` gives them.
 */
export function takeAt(timed: TimedWindow, at: number, now: number, value: number, reach: WindowReach): boolean {
  const newest = Math.max(timed.newest ?? at, at)
  const isFull = sizeOf(timed.window) >= mostOf(reach)
  if (
    at < newest - reach.lateness ||
    at <= newest - reach.duration ||
    (isFull && at < (oldestAt(timed.window) ?? at))
  ) {
    timed.late++
    return false
  }
  if (at === newest) timed.came = now
  timed.newest = newest
  insertTo(timed.window, at, value)
  return true
}

/** The time at the end of the window on a run that brings no number: the newest, and what has passed since it came. */
export function endOf({ newest, came }: TimedWindow, now: number): number {
  return newest === null ? now : newest + Math.max(0, now - came)
}

/** Takes the oldest number out when it is out of reach of a window that ends at `end`; undefined when none is. */
export function shiftOutOfReach({ window }: TimedWindow, end: number, reach: WindowReach): number | undefined {
  const oldest = oldestAt(window)
  const isOut = oldest !== undefined && (oldest <= end - reach.duration || sizeOf(window) > mostOf(reach))
  return isOut ? shiftFrom(window) : undefined
}

function mostOf({ samples }: WindowReach): number {
  return Math.min(samples, MAX_SAMPLES)
}
