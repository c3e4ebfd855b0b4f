/** Computes calendar dates and times of a time zone, for plugs about days and hours. */
import { AppError } from '#kernel'
import type { InputField, OutputField } from './plug.ts'

export const ZONE_INPUT = {
  type: 'string',
  defaultValue: 'UTC',
  description: 'IANA name of the time zone, or an offset such as +02:00',
  example: 'Europe/Brussels',
} as const satisfies InputField

export const CALENDAR_OUTPUT = {
  timestamp: { type: 'long', description: 'the instant, in epoch milliseconds', unit: 'ms' },
  year: { type: 'integer', description: 'the year' },
  month: { type: 'integer', description: 'the month, 1 to 12' },
  day: { type: 'integer', description: 'the day of the month, 1 to 31' },
  hours: { type: 'integer', description: 'the hour, 0 to 23' },
  minutes: { type: 'integer', description: 'the minute, 0 to 59' },
  seconds: { type: 'integer', description: 'the second, 0 to 59' },
  dateString: { type: 'string', description: 'the local date as YYYY-MM-DD' },
  dayString: { type: 'string', description: 'the weekday in English, such as Friday' },
  ISOstring: { type: 'string', description: 'the instant in UTC, such as 2026-11-20T18:30:00.000Z' },
} as const satisfies Readonly<Record<string, OutputField>>

export type Calendar = {
  [K in keyof typeof CALENDAR_OUTPUT]: (typeof CALENDAR_OUTPUT)[K]['type'] extends 'string' ? string : number
}

/**
 * Builds a formatter for an IANA zone or an offset such as `+02:00`. Building is slow, so reuse the formatter. Throws
 * `PLUG_FAILED`.
 */
export function zoneFormat(timeZone: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
      weekday: 'long',
    })
  } catch (error) {
    throw new AppError(
      'PLUG_FAILED',
      `"${timeZone}" is not a valid time zone; use one such as Europe/Brussels or UTC`,
      {
        cause: error,
      },
    )
  }
}

/** Returns the date and time in the zone at an instant (epoch ms). */
export function calendarOf(format: Intl.DateTimeFormat, now: number): Calendar {
  const parts = new Map(format.formatToParts(now).map(({ type, value }) => [type, value]))
  const number = (type: Intl.DateTimeFormatPartTypes) => Number(parts.get(type))
  const [year, month, day] = [number('year'), number('month'), number('day')]
  return {
    timestamp: now,
    year,
    month,
    day,
    hours: number('hour'),
    minutes: number('minute'),
    seconds: number('second'),
    dayString: parts.get('weekday') ?? '',
    dateString: [String(year).padStart(4, '0'), twoDigits(month), twoDigits(day)].join('-'),
    ISOstring: new Date(now).toISOString(),
  }
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0')
}
