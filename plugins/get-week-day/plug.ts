/** A sensor that shows the day of the week in a time zone. */
import { CALENDAR_OUTPUT, calendarOf, definePlug, problemsOfCode, ZONE_INPUT, zoneFormat } from '#plug'

const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const

export const getWeekDay = definePlug({
  name: 'getWeekDay',
  version: '1.0.0',
  kind: 'sensor',
  description: 'Shows the day of the week in a time zone as its state.',
  category: 'Time',
  parameters: [],
  states: DAYS,
  input: { timeZone: ZONE_INPUT },
  output: CALENDAR_OUTPUT,
  check: ({ timeZone }) => problemsOfCode('timeZone', timeZone, zoneFormat),
  prepare: ({ timeZone }) => zoneFormat(timeZone),
  execute({ prepared, now }) {
    const rawData = calendarOf(prepared, now)
    return { state: DAYS.find((day) => day === rawData.dayString) ?? 'Monday', rawData }
  },
})
