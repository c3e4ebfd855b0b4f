/** How long the buckets of a query are. */
import { type Issues, shown } from '#kernel'
import type { PeriodUnit } from '#services/shared'
import type { Align } from './read-align.ts'
import { durationText } from './duration-text.ts'
import { readDuration } from './read-time.ts'

export type Freq =
  | { readonly kind: 'even'; readonly width: number; readonly text: string }
  | { readonly kind: 'calendar'; readonly unit: PeriodUnit; readonly zone: string; readonly text: string }

/** One number of days, weeks, months or years. */
const CALENDAR = /^P(\d{1,6})([DWMY])$/i
const UNITS: Readonly<Record<string, PeriodUnit>> = {
  D: { unit: 'day', count: 1 },
  W: { unit: 'week', count: 1 },
  M: { unit: 'month', count: 1 },
  Y: { unit: 'month', count: 12 },
}
const WEEK_DAYS = 7

/**
 * With the time zone of `align`, days and weeks are those of its calendar, weeks from Monday; without, they are 24 hours
 * and seven times that. Months and years are always a calendar's, that of UTC without a zone.
 */
export function readFreq(freq: unknown, { zone, at }: Align, issues: Issues): Freq | undefined {
  if (freq === undefined || freq === null) return undefined
  if (freq === 'inferred') {
    return issues.wrong('/freq', 'a frequency that is inferred is not supported', 'write ISO 8601 such as PT1H')
  }
  const [, digits = '0', letter = ''] = (typeof freq === 'string' && CALENDAR.exec(freq)) || []
  const named = UNITS[letter.toUpperCase()]
  if (named !== undefined && (zone !== undefined || named.unit === 'month')) {
    const count = Number(digits)
    if (count < 1) return issues.wrong('/freq', `${shown(freq)} is no duration above 0`, 'write P1D, P1W or P1M')
    if (at !== 'grid') {
      return issues.wrong('/align/at', 'buckets of a calendar lie on its own grid', 'leave out at, or write grid')
    }
    return calendarFreq({ ...named, count: named.count * count }, zone ?? 'UTC', `P${count}${letter.toUpperCase()}`)
  }
  const width = readDuration(freq, '/freq', issues)
  return width === undefined ? undefined : { kind: 'even', width, text: durationText(width) }
}

/** Seven days are a week, as they are for the groups of the broker. */
function calendarFreq({ unit, count }: PeriodUnit, zone: string, text: string): Freq {
  if (unit === 'day' && count % WEEK_DAYS === 0) {
    return { kind: 'calendar', unit: { unit: 'week', count: count / WEEK_DAYS }, zone, text }
  }
  return { kind: 'calendar', unit: { unit, count }, zone, text }
}
