/** A sensor that is TRUE during one month of the year. */
import { AppError, CALENDAR_OUTPUT, calendarOf, definePlug, problemsOfCode, ZONE_INPUT, zoneFormat } from '#plug'

export const isMonth = definePlug({
  name: 'isMonth',
  version: '1.0.0',
  kind: 'sensor',
  description: 'TRUE during one month of the year in a time zone.',
  category: 'Time',
  parameters: [],
  states: ['TRUE', 'FALSE'],
  input: {
    month: { type: 'integer', mandatory: true, description: 'the month, 1 to 12', example: 12 },
    timeZone: ZONE_INPUT,
  },
  output: CALENDAR_OUTPUT,
  check: ({ month, timeZone }) => [
    ...problemsOfCode('month', month, requireMonth),
    ...problemsOfCode('timeZone', timeZone, zoneFormat),
  ],
  prepare: ({ timeZone }) => zoneFormat(timeZone),
  execute({ properties, prepared, now }) {
    const { month } = properties
    requireMonth(month)
    const rawData = calendarOf(prepared, now)
    return { state: rawData.month === month ? 'TRUE' : 'FALSE', rawData }
  },
})

function requireMonth(month: number): void {
  if (month >= 1 && month <= 12) return
  throw new AppError('PLUG_FAILED', `${month} is not a valid month; use a whole number from 1 to 12`)
}
