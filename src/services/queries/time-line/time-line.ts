/**
 * Resolves the time range of a query from `from`, `until`, `window`, `periods` and `freq`.
 *
 * TIMELINE-1 with a frequency, both ends lie on its grid, and the range is a whole number of buckets, at least one
 * TIMELINE-2 a resolved range whose ends are passed as `from` and `until` resolves to itself
 * TIMELINE-3 `periods` is the number of buckets, unless `align.shift` moves the ends of the range
 */
import type { Issues } from '#kernel'
import { MAX_TIME } from '#services/shared'
import type { WindowSpec } from '../contract.ts'
import type { Query } from '../query/query-schema.ts'
import { evenGrid, firstFrom, type Grid } from './grid.ts'
import { durationOf, type Freq, freqOf, textOfDuration, timeOf, zoneOf } from './time-fields.ts'

export interface TimeLine {
  /** epoch ms, inclusive */
  readonly from: number
  /** epoch ms, exclusive */
  readonly until: number
  /** undefined for raw samples */
  readonly grid: GridRange | undefined
  /** zone from `align`, for formatting times; undefined means UTC */
  readonly zone: string | undefined
}

export interface GridRange {
  readonly grid: Grid
  readonly first: number
  readonly count: number
}

/** default length of a range in ms */
const DEFAULT_WINDOW = 7 * 86_400_000
const MAX_BUCKETS = 1_000_000
/** maximum number of periods of a calendar, each of which may need a separate read */
const MAX_PERIODS = 10_000

/** Resolves the range; returns undefined after adding issues. */
export function resolveTimeLine(query: Query, now: number, issues: Issues): TimeLine | undefined {
  const { align = {}, from, until, window, periods, freq } = query
  const zone = zoneOf(align.timezone)
  const settings: Settings = {
    align,
    from: from === undefined ? undefined : timeOf(from, now),
    until: until === undefined ? undefined : timeOf(until, now),
    window: window === undefined ? undefined : durationOf(window),
    periods,
    freq: freq === undefined ? undefined : freqOf(freq, zone),
  }
  if (isCalendar(settings.freq) && (align.at ?? 'grid') !== 'grid')
    return issues.wrong('/align/at', 'calendar buckets have a fixed grid', 'omit `at`, or set it to grid')
  const sized = withSizes(settings, now, issues)
  const line = sized && resolve(sized, now, issues)
  return line && { ...line, zone }
}

function isCalendar(freq: Freq | undefined): freq is Grid {
  return freq !== undefined && 'numberOf' in freq
}

export function windowSpecOf({ from, until, grid }: TimeLine): WindowSpec {
  return { from, until, window: textOfDuration(until - from), ...(grid && { freq: grid.grid.text }) }
}

interface Settings {
  readonly from: number | undefined
  readonly until: number | undefined
  readonly window: number | undefined
  readonly periods: number | undefined
  readonly freq: Freq | undefined
  readonly align: NonNullable<Query['align']>
}

/** Derives `window` and `freq` from `periods`; periods of a calendar are left to the grid. */
function withSizes(settings: Settings, now: number, issues: Issues): Settings | undefined {
  const { from, until, window, periods, freq } = settings
  const isSized = window !== undefined || (periods !== undefined && freq !== undefined)
  if (from !== undefined && until !== undefined && isSized) {
    const name = window === undefined ? 'periods' : 'window'
    return issues.wrong(`/${name}`, `from, until and ${name} cannot be combined`, 'omit one of the three')
  }
  if (periods === undefined) return settings
  if (freq === undefined) {
    const range = window ?? (from === undefined ? DEFAULT_WINDOW : (until ?? now) - from)
    const width = Math.max(Math.round(range / periods), 1)
    return { ...settings, freq: { width, text: textOfDuration(width) } }
  }
  const size = isCalendar(freq) ? undefined : periods * freq.width
  if (window === undefined) return size === undefined ? settings : { ...settings, window: size }
  if (window === size) return settings
  const text = 'window is not periods times freq'
  return issues.wrong('/window', text, 'leave out one of window, periods and freq')
}

interface Ends {
  readonly from: number
  readonly until: number
}

function resolve(settings: Settings, now: number, issues: Issues): Omit<TimeLine, 'zone'> | undefined {
  const { from, until, freq, periods, align } = settings
  const ends =
    isCalendar(freq) && periods !== undefined ? endsOfPeriods(freq, periods, settings, now) : endsOf(settings, now)
  if (!(ends.until > ends.from)) {
    const text = `${ends.from} is not before ${until === undefined ? 'now' : 'until'}, which is ${ends.until}`
    return issues.wrong(from === undefined ? '/until' : '/from', text, 'from must be before until')
  }
  if (!(Math.abs(ends.from) <= MAX_TIME && ends.until <= MAX_TIME)) {
    return issues.wrong('/window', 'the range is outside of the calendar', 'request a shorter one')
  }
  if (freq === undefined) return { ...ends, grid: undefined }
  const grid = isCalendar(freq) ? freq : evenGrid(freq.width, originOf(align.at, settings, ends), freq.text)
  return onGrid(grid, ends, settings, issues)
}

function endsOf({ from, until, window }: Settings, now: number): Ends {
  if (from !== undefined) return { from, until: until ?? (window === undefined ? now : from + window) }
  const end = until ?? now
  return { from: end - (window ?? DEFAULT_WINDOW), until: end }
}

function endsOfPeriods(grid: Grid, periods: number, { from, until }: Settings, now: number): Ends {
  const anchor = from ?? until ?? now
  const number = grid.numberOf(anchor)
  return from === undefined
    ? { from: grid.beginOf(number - periods), until: grid.beginOf(number) }
    : { from: grid.beginOf(number), until: grid.beginOf(number + periods) }
}

function originOf(at: Settings['align']['at'] = 'grid', { from }: Settings, ends: Ends): number {
  if (at === 'grid') return 0
  if (at === 'boundary') return from ?? ends.until
  return ends[at]
}

function onGrid(grid: Grid, ends: Ends, settings: Settings, issues: Issues): Omit<TimeLine, 'zone'> | undefined {
  const shift = settings.align.shift ?? usualShift(settings)
  const behind = shift === 'backward' ? grid.numberOf(ends.until) : firstFrom(grid, ends.until)
  const counted = settings.align.shift === undefined ? settings.periods : undefined
  const begin = shift === 'forward' ? firstFrom(grid, ends.from) : grid.numberOf(ends.from)
  const first = counted !== undefined && settings.from === undefined ? behind - counted : begin
  const count = counted ?? Math.max(behind - first, 1)
  const most = grid.width === undefined ? MAX_PERIODS : MAX_BUCKETS
  if (count > most) {
    const text = `${grid.text} divides the range into ${count} buckets, more than ${most}`
    return issues.wrong('/freq', text, 'request a shorter range, or longer buckets')
  }
  const [from, until] = [grid.beginOf(first), grid.beginOf(first + count)]
  return { from, until, grid: { grid, first, count } }
}

/** Without a size or with both ends given, covers everything requested; otherwise ends with a whole bucket. */
function usualShift({ from, until, window, periods }: Settings): NonNullable<Settings['align']['shift']> {
  if (from === undefined) return 'backward'
  return until === undefined && (window !== undefined || periods !== undefined) ? 'backward' : 'wrap'
}
