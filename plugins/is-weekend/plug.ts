/** A sensor that is TRUE on Saturday and Sunday. */
import { CALENDAR_OUTPUT, calendarOf, definePlug, problemsOfCode, ZONE_INPUT, zoneFormat } from '#plug'

export const isWeekend = definePlug({
  name: 'isWeekend',
  version: '1.0.0',
  kind: 'sensor',
  description: 'TRUE when it is Saturday or Sunday in a time zone.',
  category: 'Time',
  parameters: [],
  states: ['TRUE', 'FALSE'],
  input: { timeZone: ZONE_INPUT },
  output: CALENDAR_OUTPUT,
  check: ({ timeZone }) => problemsOfCode('timeZone', timeZone, zoneFormat),
  prepare: ({ timeZone }) => zoneFormat(timeZone),
  execute({ prepared, now }) {
    const rawData = calendarOf(prepared, now)
    return { state: rawData.dayString.startsWith('S') ? 'TRUE' : 'FALSE', rawData }
  },
})
