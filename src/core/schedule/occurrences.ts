/** Queries the occurrences of a schedule between two instants. */
import type { Schedule, Tally } from './schedule.ts'

const MAX_COUNTED = 100_000

/** Counts the occurrences strictly between two instants; stops at 100,000. */
export function tallyBetween(schedule: Schedule, after: number, before: number): Tally {
  return schedule.tally?.(after, before) ?? tallyByWalking(schedule, after, before)
}

function tallyByWalking(schedule: Schedule, after: number, before: number): Tally {
  let count = 0
  let at = schedule.next(after)
  while (at !== null && at < before && count < MAX_COUNTED) {
    count++
    at = schedule.next(at)
  }
  return { count, isExact: at === null || at >= before }
}

/** Bisects the span, so that a dense schedule costs no more than a sparse one. Considers whole ms only. */
export function latestBefore(schedule: Schedule, before: number, floor: number): number | null {
  const isBefore = (after: number): boolean => {
    const next = schedule.next(after)
    return next !== null && next < before
  }
  if (!isBefore(floor)) return null
  let low = floor
  let high = before
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (isBefore(middle)) low = middle
    else high = middle
  }
  return schedule.next(low)
}
