/**
 * Days, weeks and months of a zone's calendar, numbered from 1970. Days have 23 or 25 hours at clock changes; weeks
 * begin on Mondays.
 */
import { FixedOffsetZone, IANAZone, type Zone } from 'luxon'

/** Period of `count` units, counted from 1970: two months are January and February, March and April ... */
export interface PeriodUnit {
  readonly unit: 'day' | 'week' | 'month'
  readonly count: number
}

const DAY = 86_400_000
const WEEK_DAYS = 7
const YEAR_MONTHS = 12
const EPOCH_YEAR = 1970
/** 1970 began on a Thursday. */
const DAYS_TO_MONDAY = 3

export function periodOf(time: number, zone: string, { unit, count }: PeriodUnit): number {
  const day = Math.floor((time + offsetMs(time, zone)) / DAY)
  return Math.floor(unitOf(day, unit) / count)
}

/** First instant of that period. */
export function beginOfPeriod(period: number, zone: string, { unit, count }: PeriodUnit): number {
  const midnight = firstDayOf(period * count, unit) * DAY
  // offsets on both sides: where clocks skip midnight, the day begins with the change
  const [before, after] = [offsetMs(midnight - DAY, zone), offsetMs(midnight + DAY, zone)]
  const [early, late] = [midnight - Math.max(before, after), midnight - Math.min(before, after)]
  if (isIn(early, midnight, zone)) return early
  return isIn(late, midnight, zone) ? late : changeIn(early, late, zone)
}

/** Minimum change of a zone that crosses the date line. */
const DATE_LINE = DAY - DAY / 8
const FIRST_YEAR = 1800
const LAST_YEAR = 2100
/** By zone: there are a few hundred. */
const SKIPPED = new Map<string, readonly number[]>()

/** Ascending numbers of the days that a zone skipped by crossing the date line. */
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

/** Instant of the clock change after `early`, at the latest `late`. */
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

/** Milliseconds east of UTC. */
export function offsetMs(time: number, zone: string): number {
  const minutes = zoneOf(zone).offset(time)
  // beyond the range of dates
  return Number.isFinite(minutes) ? Math.round(minutes * 60_000) : 0
}

/** `zone`: an IANA name, or an offset such as `UTC+05:30`. */
function zoneOf(zone: string): Zone {
  return /^UTC[+-]/.test(zone) ? FixedOffsetZone.parseSpecifier(zone) : IANAZone.create(zone)
}

/** Index of the last of some ascending instants that is not after a time; -1 if none is. */
export function lastAtOrBefore(instants: ArrayLike<number>, time: number): number {
  let [low, high] = [0, instants.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((instants[middle] ?? Number.POSITIVE_INFINITY) <= time) low = middle + 1
    else high = middle
  }
  return low - 1
}
