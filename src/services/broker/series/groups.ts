/**
 * How a range is cut into groups. Without a zone they are of one width and begin at `from`. With one they are days or
 * weeks of its calendar, which have 23 or 25 hours where clocks change: the first begins at `from`, all others at
 * midnight, weeks on Mondays.
 */
import { IANAZone } from 'luxon'
import { DAY, lengthText, widthOf, WEEK, type Grouping } from './grouping.ts'
import type { ResolvedRange } from './time-range.ts'

export interface Groups {
  /** when each of those that are shown begins, in the order of time */
  readonly labels: readonly number[]
  /** of those that are shown, the first instant behind the last */
  readonly end: number
  /** those that are shown as runs of one width: storage can reckon each run by itself */
  readonly runs: readonly Run[]
  /** when the group of an instant of the range begins; of one before those that are shown, any instant before them */
  startOf(time: number): number
  /** what to ask for those that are not shown */
  readonly rest?: ResolvedRange & { readonly grouping: string }
}

export interface Run {
  readonly from: number
  readonly width: number
  readonly count: number
}

export interface CutOptions {
  readonly range: ResolvedRange
  readonly grouping: Grouping
  /** an IANA zone */
  readonly zone: string | undefined
  readonly descending: boolean
  /** groups that are shown, at most: the last ones when descending */
  readonly limit: number
}

export function cutIntoGroups(options: CutOptions): Groups {
  const { zone, grouping } = options
  return zone === undefined || grouping === 'auto' ? cutEvenly(options) : cutByCalendar(options, zone, grouping / DAY)
}

function cutEvenly({ range, grouping, descending, limit }: CutOptions): Groups {
  const width = widthOf(grouping, range)
  const all = Math.ceil((range.until - range.from) / width)
  const count = Math.min(all, limit)
  const from = range.from + (descending ? all - count : 0) * width
  return {
    labels: Array.from({ length: count }, (_, k) => from + k * width),
    end: from + count * width,
    runs: [{ from, width, count }],
    // the remainder is exact, where a quotient may be rounded up
    startOf: (time) => time - ((time - range.from) % width),
    // what `auto` means follows from the range
    ...restOf(range, descending, { from, end: from + count * width, isWhole: count === all }, lengthText(width)),
  }
}

/** `days`: 1, or 7 for weeks. */
function cutByCalendar({ range, descending, limit }: CutOptions, zone: string, days: number): Groups {
  const { from, until } = range
  const first = periodOf(from, zone, days)
  const all = until > from ? periodOf(until - 1, zone, days) - first + 1 : 0
  const count = Math.min(all, limit)
  const skipped = descending ? all - count : 0
  const startAt = (k: number): number => (k === 0 ? from : beginOf(first + k, zone, days))
  const starts = Array.from({ length: count }, (_, k) => startAt(skipped + k))
  const end = count === all ? Math.max(until, beginOf(first + all, zone, days)) : startAt(skipped + count)
  // a day that a zone left out when it changed sides of the date line begins with the next
  const labels = starts.filter((start, k) => start < (starts[k + 1] ?? end))
  return {
    labels,
    end,
    runs: runsOf(labels, end),
    startOf: (time) => lastAtOrBefore(labels, time) ?? Number.NEGATIVE_INFINITY,
    ...restOf(range, descending, { from: labels[0] ?? from, end, isWhole: count === all }, days === 1 ? 'day' : 'week'),
  }
}

function restOf(
  range: ResolvedRange,
  descending: boolean,
  shown: { readonly from: number; readonly end: number; readonly isWhole: boolean },
  grouping: string,
): Pick<Groups, 'rest'> {
  if (shown.isWhole || shown.end <= shown.from) return {}
  return { rest: { ...range, ...(descending ? { until: shown.from } : { from: shown.end }), grouping } }
}

function runsOf(labels: readonly number[], end: number): readonly Run[] {
  const runs: Run[] = []
  for (const [k, from] of labels.entries()) {
    const width = (labels[k + 1] ?? end) - from
    const last = runs.at(-1)
    if (last?.width === width) runs[runs.length - 1] = { ...last, count: last.count + 1 }
    else runs.push({ from, width, count: 1 })
  }
  return runs
}

/** 1970 began on a Thursday. */
const DAYS_TO_MONDAY = 3

/** The number of the day or week of an instant, as a calendar in the zone has it. */
function periodOf(time: number, zone: string, days: number): number {
  const day = Math.floor((time + offsetMs(time, zone)) / DAY)
  return days === 1 ? day : Math.floor((day + DAYS_TO_MONDAY) / (WEEK / DAY))
}

/** The first instant of that day or week. */
function beginOf(period: number, zone: string, days: number): number {
  const day = days === 1 ? period : period * (WEEK / DAY) - DAYS_TO_MONDAY
  const midnight = day * DAY
  // offsets on both sides of it: where clocks skip midnight, the day begins with the change
  const [before, after] = [offsetMs(midnight - DAY, zone), offsetMs(midnight + DAY, zone)]
  const [early, late] = [midnight - Math.max(before, after), midnight - Math.min(before, after)]
  if (isIn(early, midnight, zone)) return early
  return isIn(late, midnight, zone) ? late : changeIn(early, late, zone)
}

function isIn(time: number, reading: number, zone: string): boolean {
  return time + offsetMs(time, zone) === reading
}

/** The instant of the change of clocks after `early`, at the latest `late`. */
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

function offsetMs(time: number, zone: string): number {
  const minutes = IANAZone.create(zone).offset(time)
  // beyond what dates can hold there are no zones
  return Number.isFinite(minutes) ? Math.round(minutes * 60_000) : 0
}

function lastAtOrBefore(labels: readonly number[], time: number): number | undefined {
  let [low, high] = [0, labels.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((labels[middle] ?? Number.POSITIVE_INFINITY) <= time) low = middle + 1
    else high = middle
  }
  return labels[low - 1]
}
