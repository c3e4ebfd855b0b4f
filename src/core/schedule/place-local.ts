/**
 * From local times to instants under a policy for the two odd days of the year.
 *
 * A local time in a gap (the clock jumps over it) moves forward by the gap's length, or is left out.
 * One in an overlap (the clock shows it twice) means its first instant, its second, or both.
 */
import type { DstPolicy } from '../rule/rule.ts'
import { DAY_MS } from './civil.ts'
import type { Stretch, Zone } from './schedule.ts'

/** A change of a zone's offset, with the local times it touches: `from` up to, not including, `until`. */
export interface ClockChange {
  kind: 'gap' | 'overlap'
  /** the instant of the change, epoch ms */
  at: number
  /** offsets in ms east of UTC */
  offsetBefore: number
  offsetAfter: number
  from: number
  until: number
}

/** The instants that a local time stands for: none, one, or two in ascending order. */
export function placeLocal(local: number, zone: Zone, dst: DstPolicy = {}): readonly number[] {
  const instants: number[] = []
  let shifted: number | undefined
  // No offset is further than a day from UTC, so the instant lies in one of these stretches.
  let stretch = zone.stretchAt(local - 2 * DAY_MS)
  for (;;) {
    const instant = local - stretch.offset
    if (instant >= stretch.from && instant < stretch.until) instants.push(instant)
    if (!(stretch.until < local + 2 * DAY_MS)) break
    if (isInGap(local, stretch)) shifted = instant
    stretch = zone.stretchAt(stretch.until)
  }
  if (instants.length > 1) {
    if (dst.overlap === 'both') return instants
    return dst.overlap === 'second' ? instants.slice(-1) : instants.slice(0, 1)
  }
  if (instants.length === 0 && shifted !== undefined && dst.gap !== 'skip') return [shifted]
  return instants
}

function isInGap(local: number, before: Stretch): boolean {
  return local >= before.until + before.offset && local < before.until + before.after
}

/** The gaps and overlaps of a zone whose instant is at or after `from` and before `until`, in order. */
export function clockChanges(zone: Zone, from: number, until: number): readonly ClockChange[] {
  const changes: ClockChange[] = []
  for (let stretch = zone.stretchAt(from - 1); stretch.until < until; stretch = zone.stretchAt(stretch.until)) {
    const { until: at, offset: offsetBefore, after: offsetAfter } = stretch
    if (offsetAfter === offsetBefore) continue
    changes.push({
      kind: offsetAfter > offsetBefore ? 'gap' : 'overlap',
      at,
      offsetBefore,
      offsetAfter,
      from: at + Math.min(offsetBefore, offsetAfter),
      until: at + Math.max(offsetBefore, offsetAfter),
    })
  }
  return changes
}
