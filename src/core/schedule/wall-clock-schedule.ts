/**
 * Implements a schedule of local times in a zone.
 *
 * Invariants:
 * WALLCLOCK-1 occurrences are the instants of all local times under the policy: strictly ascending, no instant twice.
 *   Two local times that fall on one instant (after a shift out of a gap) are one occurrence.
 * WALLCLOCK-2 the result of `next` depends only on the instant, not on earlier queries.
 * WALLCLOCK-3 a query costs a few queries of the local times, whatever lies between the instant and the result.
 */
import type { DstPolicy } from '../rule/rule.ts'
import { DAY_MS } from './civil.ts'
import type { LocalTimes, Recurrence, Schedule, Stretch, Zone } from './schedule.ts'

export function wallClockSchedule(recurrence: Recurrence, zone: Zone, dst: Required<DstPolicy>): Schedule {
  const { times, from = -Infinity, until = Infinity } = recurrence
  const next = (after: number): number | null => {
    const found = nextInstant(times, zone, dst, Math.max(after, from - 1))
    return found === null || found > until ? null : found
  }
  const key = `${zone.name} ${dst.gap} ${dst.overlap} ${recurrence.key}`
  return { key, next, first: next, anyStart: recurrence.anyStart, wallClock: { times, zone, dst } }
}

function nextInstant(times: LocalTimes, zone: Zone, dst: Required<DstPolicy>, after: number): number | null {
  // whole milliseconds, so that "strictly after" means the same for instants and local times
  let past = Math.floor(after)
  for (;;) {
    const stretch = zone.stretchAt(past + 1)
    const local = times.next(Math.max(past + stretch.offset, lowestLocal(stretch, dst) - 1))
    const plain = local !== null && local < highestLocal(stretch, dst) ? local - stretch.offset : null
    const shifted = dst.gap === 'shift' ? shiftedOutOfGap(times, stretch, past) : null
    if (plain !== null && shifted !== null) return Math.min(plain, shifted)
    if (plain !== null) return plain
    if (shifted !== null) return shifted
    if (stretch.until === Infinity) return null
    // Times within two days of the end may belong to the other side of the change; later times can be skipped.
    past = stretch.until - 1
    const ahead = times.next(past + stretch.offset - 2 * DAY_MS)
    if (ahead === null) return null
    past = Math.max(past, ahead - stretch.offset - 2 * DAY_MS)
  }
}

function lowestLocal(stretch: Stretch, dst: Required<DstPolicy>): number {
  const repeated = dst.overlap === 'first' && stretch.before > stretch.offset
  return stretch.from + (repeated ? stretch.before : stretch.offset)
}

function highestLocal(stretch: Stretch, dst: Required<DstPolicy>): number {
  const repeated = dst.overlap === 'second' && stretch.after < stretch.offset
  return stretch.until + (repeated ? stretch.after : stretch.offset)
}

/** Returns the first local time in the gap before the stretch that is shifted to an instant after `past`. */
function shiftedOutOfGap(times: LocalTimes, stretch: Stretch, past: number): number | null {
  const { from, before, offset } = stretch
  if (before >= offset || past >= from + offset - before) return null
  const local = times.next(Math.max(past, from - 1) + before)
  return local !== null && local < from + offset ? local - before : null
}
