/** A sensor that is TRUE during one hour of the day. */
import { AppError, CALENDAR_OUTPUT, calendarOf, definePlug, problemsOfCode, ZONE_INPUT, zoneFormat } from '#plug'

export const isHour = definePlug({
  name: 'isHour',
  version: '1.0.0',
  kind: 'sensor',
  description: 'TRUE during one hour of the day in a time zone.',
  category: 'Time',
  parameters: [],
  states: ['TRUE', 'FALSE'],
  input: {
    hour: { type: 'integer', mandatory: true, description: 'the hour, 0 to 23', example: 18 },
    timeZone: ZONE_INPUT,
  },
  output: CALENDAR_OUTPUT,
  check: ({ hour, timeZone }) => [
    ...problemsOfCode('hour', hour, requireHour),
    ...problemsOfCode('timeZone', timeZone, zoneFormat),
  ],
  prepare: ({ timeZone }) => zoneFormat(timeZone),
  execute({ properties, prepared, now }) {
    const { hour } = properties
    requireHour(hour)
    const rawData = calendarOf(prepared, now)
    return { state: rawData.hours === hour ? 'TRUE' : 'FALSE', rawData }
  },
})

function requireHour(hour: number): void {
  if (hour >= 0 && hour <= 23) return
  throw new AppError('PLUG_FAILED', `${hour} is not a valid hour; use a whole number from 0 to 23`)
}
