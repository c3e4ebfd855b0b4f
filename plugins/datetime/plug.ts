/** A sensor that shows the date and time of a time zone as raw data. */
import { CALENDAR_OUTPUT, calendarOf, definePlug, problemsOfCode, ZONE_INPUT, zoneFormat } from '#plug'

export const datetime = definePlug({
  name: 'datetime',
  version: '1.0.0',
  kind: 'sensor',
  description: 'Shows the current date and time of a time zone as raw data.',
  category: 'Time',
  parameters: [],
  states: ['Data', 'Idle'],
  input: { timeZone: ZONE_INPUT },
  output: CALENDAR_OUTPUT,
  check: ({ timeZone }) => problemsOfCode('timeZone', timeZone, zoneFormat),
  prepare: ({ timeZone }) => zoneFormat(timeZone),
  execute: ({ prepared, now }) => ({ state: 'Data', rawData: calendarOf(prepared, now) }),
})
