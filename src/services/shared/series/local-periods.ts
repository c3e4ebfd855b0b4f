/** Divides time into days, weeks (from Monday) and months in a time zone, numbered from 1970. */
import { FixedOffsetZone, IANAZone, type Zone } from 'luxon'

/** Periods of `count` units, counted from 1970: two months are January and February, March and April ... */
export interface PeriodUnit {
  readonly unit: 'day' | 'week' | 'month'
  readonly count: number
}

const DAY = 86_400_000
const WEEK_DAYS = 7
const YEAR_MONTHS = 12
const EPOCH_YEAR = 1970
/** Days from Monday to 1 January 1970, a Thursday. */
const DAYS_TO_MONDAY = 3

export function periodOf(time: number, zone: string, { unit, count }: PeriodUnit): number {
  const day = Math.floor((time + offsetMs(time, zone)) / DAY)
  return Math.floor(unitOf(day, unit) / count)
}

export function beginOfPeriod(period: number, zone: string, { unit, count }: PeriodUnit): number {
  const midnight = firstDayOf(period * count, unit) * DAY
  // offsets before and after: where clocks skip midnight, the day begins at the change
  const [before, after] = [offsetMs(midnight - DAY, zone), offsetMs(midnight + DAY, zone)]
  const [early, late] = [midnight - Math.max(before, after), midnight - Math.min(before, after)]
  if (isIn(early, midnight, zone)) return early
  return isIn(late, midnight, zone) ? late : changeIn(early, late, zone)
}

/** Least clock change by which a zone crosses the date line. */
const DATE_LINE = DAY - DAY / 8
const FIRST_YEAR = 1800
const LAST_YEAR = 2100
/** Skipped days by zone; there are only a few hundred zones. */
const SKIPPED = new Map<string, readonly number[]>()

/** Returns the numbers of the days that a zone skipped by crossing the date line, ascending. */
export function skippedDays(zone: string): readonly number[] {
  const known = SKIPPED.get(zone)
  if (known !== undefined) return known
  const found: number[] = []
  for (let year = FIRST_YEAR; year < LAST_YEAR; year++) {
    const [early, late] = [Date.UTC(year, 0, 1), Date.UTC(year + 1, 0, 1)]
    if (offsetMs(late, zone) - offsetMs(early, zone) < DATE_LINE) continue
    const change = jumpIn(early, late, zone)
    const before = Math.floor((change - 1 + offsetMs(change - 1, zone)) / DAY)
    const after = Math.floor((change + offsetMs(change, zone)) / DAY)
    for (let day = before + 1; day < after; day++) found.push(day)
  }
  SKIPPED.set(zone, found)
  return found
}

function jumpIn(early: number, late: number, zone: string): number {
  let [low, high] = [early, late]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (offsetMs(middle, zone) - offsetMs(low, zone) < DATE_LINE) low = middle
    else high = middle
  }
  return high
}

function isIn(time: number, reading: number, zone: string): boolean {
  return time + offsetMs(time, zone) === reading
}

function unitOf(day: number, unit: PeriodUnit['unit']): number {
  if (unit === 'day') return day
  if (unit === 'week') return Math.floor((day + DAYS_TO_MONDAY) / WEEK_DAYS)
  const date = new Date(day * DAY)
  return (date.getUTCFullYear() - EPOCH_YEAR) * YEAR_MONTHS + date.getUTCMonth()
}

function firstDayOf(number: number, unit: PeriodUnit['unit']): number {
  if (unit === 'day') return number
  if (unit === 'week') return number * WEEK_DAYS - DAYS_TO_MONDAY
  const first = new Date(0)
  first.setUTCFullYear(EPOCH_YEAR, number, 1)
  return first.getTime() / DAY
}

/** Returns the instant of the clock change after `early` and not after `late`. */
function changeIn(early: number, late: number, zone: string): number {
  let [low, high] = [early - 1, late]
  const old = offsetMs(low, zone)
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (offsetMs(middle, zone) === old) low = middle
    else high = middle
  }
  return high
}

/** Returns the offset of a zone, in ms east of UTC. */
export function offsetMs(time: number, zone: string): number {
  const minutes = zoneOf(zone).offset(time)
  // not finite beyond the range of dates
  return Number.isFinite(minutes) ? Math.round(minutes * 60_000) : 0
}

/** Returns a zone. `zone`: an IANA name, or an offset such as `UTC+05:30`. */
function zoneOf(zone: string): Zone {
  return /^UTC[+-]/.test(zone) ? FixedOffsetZone.parseSpecifier(zone) : IANAZone.create(zone)
}

/** Returns the index of the last of some ascending instants that is not after a time; -1 when all are after it. */
export function lastAtOrBefore(instants: ArrayLike<number>, time: number): number {
  let [low, high] = [0, instants.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((instants[middle] ?? Number.POSITIVE_INFINITY) <= time) low = middle + 1
    else high = middle
  }
  return low - 1
}
