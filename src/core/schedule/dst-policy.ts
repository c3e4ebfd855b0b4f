/**
 * Converts local times to instants under a DST policy: a gap shifts or drops, an overlap means first, second or both.
 */
import type { DstPolicy } from '../rule/rule.ts'
import { DAY_MS } from './civil.ts'
import type { Stretch, Zone } from './schedule.ts'

/** A change of a zone's offset and the affected local times: `from` inclusive, `until` exclusive. */
export interface ClockChange {
  kind: 'gap' | 'overlap'
  at: number
  /** offset in ms east of UTC */
  offsetBefore: number
  offsetAfter: number
  from: number
  until: number
}

/** Returns the instants of a local time: none, one, or two in ascending order. */
export function instantsOf(local: number, zone: Zone, dst: DstPolicy = {}): readonly number[] {
  const instants: number[] = []
  let shifted: number | undefined
  // no offset exceeds a day, so the instant lies in one of these stretches
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

/** Returns the gaps and overlaps of a zone from `from` (inclusive) to `until` (exclusive), in order. */
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
