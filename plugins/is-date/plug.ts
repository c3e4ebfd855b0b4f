/** A sensor that is TRUE on one date, or on one day of every year. */
import { AppError, CALENDAR_OUTPUT, calendarOf, definePlug, problemsOfCode, ZONE_INPUT, zoneFormat } from '#plug'

export const isDate = definePlug({
  name: 'isDate',
  version: '1.0.0',
  kind: 'sensor',
  description: 'TRUE on one date in a time zone, or on a day of every year.',
  category: 'Time',
  parameters: [],
  states: ['TRUE', 'FALSE'],
  input: {
    date: {
      type: 'string',
      mandatory: true,
      description: 'the date as YYYY-MM-DD, or MM-DD for every year',
      example: '12-25',
    },
    timeZone: ZONE_INPUT,
  },
  output: CALENDAR_OUTPUT,
  check: ({ date, timeZone }) => [
    ...problemsOfCode('date', date, requireDate),
    ...problemsOfCode('timeZone', timeZone, zoneFormat),
  ],
  prepare: ({ timeZone }) => zoneFormat(timeZone),
  execute({ properties, prepared, now }) {
    const { date } = properties
    requireDate(date)
    const rawData = calendarOf(prepared, now)
    return { state: rawData.dateString.endsWith(date) ? 'TRUE' : 'FALSE', rawData }
  },
})

function requireDate(date: string): void {
  const match = /^(?:(\d{4})-)?(\d{2})-(\d{2})$/.exec(date)
  // a leap year, so that 02-29 of every year is valid
  const time = match ? Date.parse(`${match[1] ?? '2024'}-${match[2]}-${match[3]}T00:00:00Z`) : Number.NaN
  if (Number.isFinite(time) && new Date(time).toISOString().slice(5, 10) === date.slice(-5)) return
  throw new AppError(
    'PLUG_FAILED',
    `"${date}" is not a valid date; use one such as 2026-12-25, or 12-25 for every year`,
  )
}
