import { AppError } from '../../src/plug.ts'

/** The calendar and clock of a zone at one instant. */
export interface ZonedTime {
  year: number
  /** 1 to 12 */
  month: number
  /** day of the month */
  day: number
  /** 0 to 23 */
  hours: number
  minutes: number
  seconds: number
  /** English name of the weekday */
  dayString: string
}

/** A formatter for an IANA zone or an offset such as `+02:00`; slow to make and quick to use. Throws `PLUG_FAILED`. */
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
    throw new AppError('PLUG_FAILED', `"${timeZone}" is not a time zone; write one such as Europe/Brussels or UTC`, {
      cause: error,
    })
  }
}

/** What clocks and calendars of the zone show at an instant (epoch ms). */
export function zonedTime(format: Intl.DateTimeFormat, now: number): ZonedTime {
  const parts = new Map(format.formatToParts(now).map(({ type, value }) => [type, value]))
  const number = (type: Intl.DateTimeFormatPartTypes) => Number(parts.get(type))
  return {
    year: number('year'),
    month: number('month'),
    day: number('day'),
    hours: number('hour'),
    minutes: number('minute'),
    seconds: number('second'),
    dayString: parts.get('weekday') ?? '',
  }
}
