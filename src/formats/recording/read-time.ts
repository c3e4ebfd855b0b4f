/** Parses times from the command line and from recordings. */

import { type EpochUnit, msOf } from '#kernel'

/** A time zone. Clock readings are epoch ms as if the clock showed UTC. */
export interface ClockZone {
  readonly name: string
  /** none in a spring gap, two in an autumn overlap, otherwise one */
  instantsOf(reading: number): readonly number[]
}

export const UTC: ClockZone = { name: 'UTC', instantsOf: (reading) => [reading] }

export function epochNumber(value: unknown): number | undefined {
  if (typeof value === 'number') return value
  const text = typeof value === 'string' ? value.trim() : ''
  return NUMBER.test(text) ? Number(text) : undefined
}

const TIME =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s?(?:([Zz])|([+-])(\d{2}):?(\d{2})?)?)?$/
const NUMBER = /^-?\d+(?:\.\d+)?$/
/** day, month and year, as spreadsheets in many countries write them */
const DOTTED = /^(\d{1,2})\.(\d{1,2})\.(\d{4})(?=$| )/
/** The last instant that a Date can represent. */
const LAST = 8_640_000_000_000_000

export const TIME_FORMS = 'use 2025-01-31T08:00:00Z, 2025-01-31 08:00:00, or epoch milliseconds'

function dashed(_text: string, day: string, month: string, year: string): string {
  return `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`
}

/** The possible instants (two for a repeated clock reading), or the problem. */
export type TimeReading = { times: readonly number[] } | { message: string; suggestion: string }

/** ISO 8601, also with a blank for the T, a date alone, or an epoch number in `unit`; `zone`: without an offset. */
export function readTime(value: unknown, zone: ClockZone, unit: EpochUnit = 'ms'): TimeReading {
  if (typeof value === 'number') return epoch(value, String(value), unit)
  if (typeof value !== 'string')
    return { message: `${JSON.stringify(value)} is not a valid time`, suggestion: TIME_FORMS }
  const common = commonInstant(value)
  if (common !== undefined) return { times: [common] }
  const text = value.trim()
  if (text === '') return { message: 'the time is empty', suggestion: TIME_FORMS }
  const match = TIME.exec(text.replace(DOTTED, dashed))
  if (match === null) {
    if (NUMBER.test(text)) return epoch(Number(text), text, unit)
    return { message: `"${shorten(text)}" is not a valid time`, suggestion: TIME_FORMS }
  }
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', utc, sign, offHours, offMinutes] =
    match
  const ms = Number(fraction.slice(0, 3).padEnd(3, '0'))
  const parts = [Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second)] as const
  const reading = Date.UTC(...parts, ms)
  if (!sameReading(reading, parts) || Number(offHours ?? 0) > 18 || Number(offMinutes ?? 0) > 59) {
    return { message: `"${text}" does not exist in the calendar or on the clock`, suggestion: TIME_FORMS }
  }
  if (utc !== undefined) return { times: [reading] }
  if (sign !== undefined) {
    const offset = (Number(offHours) * 60 + Number(offMinutes ?? 0)) * 60_000
    return { times: [sign === '-' ? reading + offset : reading - offset] }
  }
  const times = zone.instantsOf(reading)
  if (times.length > 0) return { times }
  return {
    message: `"${text}" does not exist in ${zone.name}: clocks skip it`,
    suggestion: 'use --zone for the zone of the times, or times with their offset',
  }
}

const DAYS_IN_ALL = 28

/** Fast path for `2025-01-31T08:00:00.000Z`, which the runtime parses correctly. */
function commonInstant(text: string): number | undefined {
  if (!text.endsWith('Z') || text[10] !== 'T' || (text.length !== 24 && text.length !== 20)) return undefined
  if (Number(text.slice(8, 10)) > DAYS_IN_ALL || text.startsWith('24', 11)) return undefined
  const time = Date.parse(text)
  return Number.isNaN(time) ? undefined : time
}

function epoch(value: number, text: string, unit: EpochUnit): TimeReading {
  const ms = msOf(value, unit)
  if (Number.isFinite(ms) && Math.abs(ms) <= LAST) return { times: [ms] }
  return { message: `${shorten(text)} is beyond the range of dates`, suggestion: TIME_FORMS }
}

function sameReading(reading: number, parts: readonly [number, number, number, number, number, number]): boolean {
  const date = new Date(reading)
  const back = [
    date.getUTCFullYear(),
    date.getUTCMonth(),
    date.getUTCDate(),
    date.getUTCHours(),
    date.getUTCMinutes(),
    date.getUTCSeconds(),
  ]
  return back.every((part, index) => part === parts[index])
}

function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 57)}...` : text
}
