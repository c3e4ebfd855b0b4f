/**
 * Window over numbers with their own times, possibly out of order, which ends at the newest; plain JSON changed in
 * place.
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
  /** newest time so far, epoch ms; null before the first number */
  newest: number | null
  /** arrival of the newest time, by the engine's clock */
  came: number
  late: number
}

/** Reach of a window: numbers, ms, and allowed lateness in ms. Infinity: no limit. */
export interface WindowReach {
  readonly samples: number
  readonly duration: number
  readonly lateness: number
}

export function timedWindow(window: SlidingWindow = emptyWindow()): TimedWindow {
  const newest = window.at.at(-1) ?? null
  return { window, newest, came: newest ?? 0, late: 0 }
}

/** Returns false for a number that is too late. Numbers that are then out of reach stay until `shiftOutOfReach`. */
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

/** Newest time plus the time since its arrival. */
export function endOf({ newest, came }: TimedWindow, now: number): number {
  return newest === null ? now : newest + Math.max(0, now - came)
}

/** Removes the oldest number when it is out of reach of a window that ends at `end`; otherwise undefined. */
export function shiftOutOfReach({ window }: TimedWindow, end: number, reach: WindowReach): number | undefined {
  const oldest = oldestAt(window)
  const isOut = oldest !== undefined && (oldest <= end - reach.duration || sizeOf(window) > mostOf(reach))
  return isOut ? shiftFrom(window) : undefined
}

function mostOf({ samples }: WindowReach): number {
  return Math.min(samples, MAX_SAMPLES)
}
