/** Schemas and conversions for times, durations and zones in queries. */
import { IANAZone } from 'luxon'
import { Type } from 'typebox'
import { durationMs, isoInstant, notAnInstant, shown } from '#kernel'
import { MAX_TIME, type PeriodUnit } from '#services/shared'
import { type Problem, refined, text } from '#services/shared/contract'
import { calendarGrid, type Grid } from './grid.ts'

const DURATION = /^\s*[+-]?P/i
const DIGITS = /^-?\d{1,16}$/
const MAX_TEXT = 100

const TIME_FORMS = 'epoch milliseconds, ISO 8601, or a duration before now such as -P1D'
const timeText = text(MAX_TEXT, { pattern: String.raw`^\s*[+-]?[Pp\d]` })
export const time = refined(
  Type.Union([Type.Number({ minimum: -MAX_TIME, maximum: MAX_TIME }), timeText], { description: TIME_FORMS }),
  (value) => {
    if ((typeof value === 'number' || typeof value === 'string') && Math.abs(timeOf(value, 0)) <= MAX_TIME) return []
    return [{ message: `${shown(value)} ${notAnInstant(value)}`, suggestion: `write ${TIME_FORMS}` }]
  },
)

/** Returns epoch ms; NaN for an invalid text. A duration, whatever its sign, means a time before now. */
export function timeOf(value: number | string, now: number): number {
  if (typeof value === 'number') return Math.trunc(value)
  if (DIGITS.test(value)) return Number(value)
  return Math.trunc(DURATION.test(value) ? now - Math.abs(durationOf(value)) : isoInstant(value))
}

const durationText = text(MAX_TEXT, {
  pattern: String.raw`^\s*\+?[Pp\d]`,
  description: 'ISO 8601 such as PT1H or P7D',
})
export const duration = refined(durationText, durationProblems)

function durationProblems(value: unknown): readonly Problem[] {
  const ms = typeof value === 'string' ? durationOf(value) : Number.NaN
  if (ms > 0 && ms <= MAX_TIME) return []
  return [{ message: `${shown(value)} is not a duration above 0`, suggestion: 'write ISO 8601 such as PT1H or P7D' }]
}

/** Returns whole ms; NaN for an invalid text. */
export function durationOf(value: string): number {
  try {
    return Math.round(durationMs(value))
  } catch {
    return Number.NaN
  }
}

const SIZES: readonly (readonly [ms: number, before: string, after: string])[] = [
  [86_400_000, 'P', 'D'],
  [3_600_000, 'PT', 'H'],
  [60_000, 'PT', 'M'],
]

/** In the largest unit among days, hours, minutes and seconds that divides it: `P7D`, `PT25H`, `PT1.5S`. */
export function textOfDuration(ms: number): string {
  const [unit, before, after] = SIZES.find(([size]) => ms !== 0 && ms % size === 0) ?? [1_000, 'PT', 'S']
  return `${before}${ms / unit}${after}`
}

export type Freq = { readonly width: number; readonly text: string } | Grid

const CALENDAR = /^P(\d{1,6})([DWMY])$/i
const UNITS: Readonly<Record<string, PeriodUnit>> = {
  D: { unit: 'day', count: 1 },
  W: { unit: 'week', count: 1 },
  M: { unit: 'month', count: 1 },
  Y: { unit: 'month', count: 12 },
}
const WEEK_DAYS = 7

export const freq = refined(durationText, (value) => {
  if (value !== 'inferred')
    return typeof value === 'string' && periodsOf(value)?.unit === 'month' ? [] : durationProblems(value)
  return [{ message: 'a frequency that is inferred is not supported', suggestion: 'write ISO 8601 such as PT1H' }]
})

/** With a zone in `align`, days and weeks (from Monday) follow its calendar. Months always follow a calendar, by default UTC. */
export function freqOf(value: string, zone: string | undefined): Freq {
  const periods = periodsOf(value)
  if (periods !== undefined && (zone !== undefined || periods.unit === 'month'))
    return calendarGrid(periods, zone ?? 'UTC', value.toUpperCase().replace(/^P0+/, 'P'))
  const width = durationOf(value)
  return { width, text: textOfDuration(width) }
}

/** Parses periods of a calendar. Seven days count as a week, as in the broker's groups. */
function periodsOf(value: string): PeriodUnit | undefined {
  const [, digits = '0', letter = ''] = CALENDAR.exec(value) ?? []
  const named = UNITS[letter.toUpperCase()]
  const count = Number(digits) * (named?.count ?? 0)
  if (named === undefined || count === 0) return undefined
  const isWeeks = named.unit === 'day' && count % WEEK_DAYS === 0
  return isWeeks ? { unit: 'week', count: count / WEEK_DAYS } : { unit: named.unit, count }
}

const OFFSET = /^[+-](?:0\d|1[0-4]):?[0-5]\d$/
const ZONE_FORMS = 'an IANA name such as Europe/Brussels, or an offset such as +02:00'
const PART = '[A-Za-z0-9_+-]'
const zonePattern = String.raw`^(?:[+-]\d\d:?\d\d|[A-Za-z]${PART}{0,29}(?:/${PART}{1,30}){0,2})$`

export const zone = refined(Type.String({ pattern: zonePattern, description: ZONE_FORMS }), (value) =>
  zoneOf(value) === undefined
    ? [{ message: `${shown(value)} is not a time zone`, suggestion: `write ${ZONE_FORMS}` }]
    : [],
)

/** Returns the name of a zone for luxon's `Zone`; undefined for an invalid zone. */
export function zoneOf(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined
  if (/^(?:Z|UTC|GMT)$/i.test(value)) return 'UTC'
  if (OFFSET.test(value)) return `UTC${value.slice(0, 3)}:${value.slice(-2)}`
  return IANAZone.isValidZone(value) ? value : undefined
}
