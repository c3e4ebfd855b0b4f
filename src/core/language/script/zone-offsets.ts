/** Computes offsets of a time zone from UTC around an instant, for scripts, which have no time zones. */
import { calendarOf, zoneFormat } from '../../plug/calendar.ts'

/** An offset and the instant from which it applies; both in ms. */
type Change = readonly [begin: number, offset: number]

/** Offsets of a time zone, for instants from `from` (inclusive) to `until` (exclusive), epoch ms. */
export type ZoneSpan = readonly [from: number, until: number, changes: readonly Change[]]

const DAY = 86_400_000
/** Length to whose multiples spans are aligned, so that equal times have equal spans. */
const STEP = 32 * DAY
const AROUND = 12 * STEP
/** Time within which zones change their offset at most once. */
const PROBE = 4 * DAY

/** For a year around a time (epoch ms). Throws `PLUG_FAILED` for an unknown zone. */
export function zoneOffsets(zone: string): (now: number) => ZoneSpan {
  const format = zoneFormat(zone)
  const offsetAt = (at: number): number => {
    const { year, month, day, hours, minutes, seconds } = calendarOf(format, at)
    return Date.UTC(year, month - 1, day, hours, minutes, seconds) - Math.floor(at / 1000) * 1000
  }
  let known: ZoneSpan | undefined
  return (now) => {
    const middle = Math.floor(now / STEP) * STEP
    const from = middle - AROUND
    if (known?.[0] !== from) known = [from, middle + STEP + AROUND, changesIn(from, middle + STEP + AROUND, offsetAt)]
    return known
  }
}

function changesIn(from: number, until: number, offsetAt: (at: number) => number): readonly Change[] {
  const changes: Change[] = [[from, offsetAt(from)]]
  for (let at = from; at < until; at += PROBE) {
    const [before, after] = [offsetAt(at), offsetAt(at + PROBE)]
    if (before === after) continue
    let [low, high] = [at, at + PROBE]
    while (high - low > 1000) {
      const middle = low + Math.floor((high - low) / 2000) * 1000
      if (offsetAt(middle) === before) low = middle
      else high = middle
    }
    changes.push([high, after])
  }
  return changes
}
