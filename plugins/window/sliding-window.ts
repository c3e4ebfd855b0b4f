/** Sliding window of numbers with a summary in amortized constant time: two stacks, plain JSON changed in place. */
import { addTo, emptySummary, merged, type Summary } from './summary.ts'

export interface SlidingWindow {
  /** times of the numbers, epoch ms, the oldest at `head` */
  readonly at: number[]
  readonly values: number[]
  head: number
  /** for each number of the front: summary of that number and all later ones in the front; the oldest last */
  readonly front: Summary[]
  back: Summary
}

export const MAX_SAMPLES = 100_000

export function emptyWindow(): SlidingWindow {
  return { at: [], values: [], head: 0, front: [], back: emptySummary() }
}

export function sizeOf(window: SlidingWindow): number {
  return window.values.length - window.head
}

export function pushTo(window: SlidingWindow, at: number, value: number): void {
  window.at.push(at)
  window.values.push(value)
  addTo(window.back, value)
}

/** Inserts a number by time, after equal times. Takes one step per newer number. */
export function insertTo(window: SlidingWindow, at: number, value: number): void {
  let index = window.at.length
  while (index > window.head && (window.at[index - 1] ?? at) > at) index--
  if (index === window.at.length) return pushTo(window, at, value)
  window.at.splice(index, 0, at)
  window.values.splice(index, 0, value)
  const back = window.head + window.front.length
  if (index >= back) addTo(window.back, value)
  else insertInFront(window.front, back - index, value)
}

export function hasAt({ at, values, head }: SlidingWindow, time: number, value: number): boolean {
  for (let index = at.length - 1; index >= head && (at[index] as number) >= time; index--) {
    if (at[index] === time && values[index] === value) return true
  }
  return false
}

/** `newer`: how many numbers of the front are newer. */
function insertInFront(front: Summary[], newer: number, value: number): void {
  const merged: Summary = [...(front[newer - 1] ?? emptySummary())]
  for (const older of front.slice(newer)) addTo(older, value)
  addTo(merged, value)
  front.splice(newer, 0, merged)
}

/** Removes the oldest number; undefined when empty. */
export function shiftFrom(window: SlidingWindow): number | undefined {
  if (sizeOf(window) === 0) return undefined
  if (window.front.length === 0) turnOver(window)
  window.front.pop()
  return window.values[window.head++]
}

export function oldestAt(window: SlidingWindow): number | undefined {
  return window.at[window.head]
}

export function summaryOf(window: SlidingWindow): Summary {
  return merged(window.front.at(-1) ?? emptySummary(), window.back)
}

function turnOver(window: SlidingWindow): void {
  window.at.splice(0, window.head)
  window.values.splice(0, window.head)
  window.head = 0
  let summary = emptySummary()
  for (const value of window.values.toReversed()) {
    summary = [...summary]
    addTo(summary, value)
    window.front.push(summary)
  }
  window.back = emptySummary()
}
