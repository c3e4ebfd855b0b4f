import { definePlug, messageOf } from '../../src/plug.ts'
import { zonedTime, zoneFormat } from './zoned-time.ts'

/** The time of the engine's clock, taken apart in a zone. */
export const datetime = definePlug({
  name: 'datetime',
  version: '1.0.0',
  kind: 'sensor',
  description: 'Gives the current date and time of a time zone as raw data.',
  category: 'Time',
  states: ['Data', 'Idle'],
  input: {
    timeZone: {
      type: 'string',
      defaultValue: 'UTC',
      description: 'IANA name of the time zone, or an offset such as +02:00',
      example: 'Europe/Brussels',
    },
  },
  output: {
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
  },
  check({ timeZone }) {
    if (timeZone === undefined) return []
    try {
      zoneFormat(timeZone)
      return []
    } catch (error) {
      return [{ property: 'timeZone', message: messageOf(error) }]
    }
  },
  prepare: (properties) => zoneFormat(properties.timeZone),
  execute({ properties, prepared, now }) {
    // A zone from a placeholder is known only now, and then nothing was prepared.
    const format = (prepared as Intl.DateTimeFormat | undefined) ?? zoneFormat(properties.timeZone)
    const time = zonedTime(format, now)
    const dateString = [String(time.year).padStart(4, '0'), twoDigits(time.month), twoDigits(time.day)].join('-')
    return { state: 'Data', rawData: { timestamp: now, ...time, dateString, ISOstring: new Date(now).toISOString() } }
  },
})

function twoDigits(value: number): string {
  return String(value).padStart(2, '0')
}
