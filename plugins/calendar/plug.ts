/** Sensors that compare the current date or day of the week in a time zone with configured ones. */
import { AppError, CALENDAR_OUTPUT, calendarOf, definePlug, problemsOfCode, ZONE_INPUT, zoneFormat } from '#plug'

const SHARED = { version: '1.0.0', kind: 'sensor', category: 'Time', parameters: [], output: CALENDAR_OUTPUT } as const
const COMPARISON = { ...SHARED, states: ['TRUE', 'FALSE'] } as const
const ZONE = {
  check: ({ timeZone }: { readonly timeZone?: string }) => problemsOfCode('timeZone', timeZone, zoneFormat),
  prepare: ({ timeZone }: { readonly timeZone: string }) => zoneFormat(timeZone),
}

const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'] as const

export const datetime = definePlug({
  ...SHARED,
  ...ZONE,
  name: 'datetime',
  description: 'Shows the current date and time of a time zone as raw data.',
  states: ['Data', 'Idle'],
  input: { timeZone: ZONE_INPUT },
  execute: ({ prepared, now }) => ({ state: 'Data', rawData: calendarOf(prepared, now) }),
})

export const getWeekDay = definePlug({
  ...SHARED,
  ...ZONE,
  name: 'getWeekDay',
  description: 'Shows the day of the week in a time zone as its state.',
  states: DAYS,
  input: { timeZone: ZONE_INPUT },
  execute({ prepared, now }) {
    const rawData = calendarOf(prepared, now)
    return { state: DAYS.find((day) => day === rawData.dayString) ?? 'Monday', rawData }
  },
})

export const isWeekday = definePlug({
  ...COMPARISON,
  ...ZONE,
  name: 'isWeekday',
  description: 'TRUE from Monday to Friday in a time zone, otherwise FALSE.',
  input: { timeZone: ZONE_INPUT },
  execute({ prepared, now }) {
    const rawData = calendarOf(prepared, now)
    return { state: rawData.dayString.startsWith('S') ? 'FALSE' : 'TRUE', rawData }
  },
})

export const isWeekend = definePlug({
  ...COMPARISON,
  ...ZONE,
  name: 'isWeekend',
  description: 'TRUE on Saturday and Sunday in a time zone, otherwise FALSE.',
  input: { timeZone: ZONE_INPUT },
  execute({ prepared, now }) {
    const rawData = calendarOf(prepared, now)
    return { state: rawData.dayString.startsWith('S') ? 'TRUE' : 'FALSE', rawData }
  },
})

export const isHour = definePlug({
  ...COMPARISON,
  ...ZONE,
  name: 'isHour',
  description: 'TRUE during one hour of the day in a time zone, otherwise FALSE.',
  input: {
    hour: { type: 'integer', mandatory: true, description: 'the hour, 0 to 23', example: 18 },
    timeZone: ZONE_INPUT,
  },
  check: ({ hour, ...zone }) => [...problemsOfCode('hour', hour, requireHour), ...ZONE.check(zone)],
  execute({ properties: { hour }, prepared, now }) {
    requireHour(hour)
    const rawData = calendarOf(prepared, now)
    return { state: rawData.hours === hour ? 'TRUE' : 'FALSE', rawData }
  },
})

export const isMonth = definePlug({
  ...COMPARISON,
  ...ZONE,
  name: 'isMonth',
  description: 'TRUE during one month of the year in a time zone, otherwise FALSE.',
  input: {
    month: { type: 'integer', mandatory: true, description: 'the month, 1 to 12', example: 12 },
    timeZone: ZONE_INPUT,
  },
  check: ({ month, ...zone }) => [...problemsOfCode('month', month, requireMonth), ...ZONE.check(zone)],
  execute({ properties: { month }, prepared, now }) {
    requireMonth(month)
    const rawData = calendarOf(prepared, now)
    return { state: rawData.month === month ? 'TRUE' : 'FALSE', rawData }
  },
})

export const isDate = definePlug({
  ...COMPARISON,
  ...ZONE,
  name: 'isDate',
  description: 'TRUE on one date in a time zone, or on a day of every year.',
  input: {
    date: {
      type: 'string',
      mandatory: true,
      description: 'the date as YYYY-MM-DD, or MM-DD for every year',
      example: '12-25',
    },
    timeZone: ZONE_INPUT,
  },
  check: ({ date, ...zone }) => [...problemsOfCode('date', date, requireDate), ...ZONE.check(zone)],
  execute({ properties: { date }, prepared, now }) {
    requireDate(date)
    const rawData = calendarOf(prepared, now)
    return { state: rawData.dateString.endsWith(date) ? 'TRUE' : 'FALSE', rawData }
  },
})

function requireHour(hour: number): void {
  if (hour >= 0 && hour <= 23) return
  throw new AppError('PLUG_FAILED', `${hour} is not a valid hour; use a whole number from 0 to 23`)
}

function requireMonth(month: number): void {
  if (month >= 1 && month <= 12) return
  throw new AppError('PLUG_FAILED', `${month} is not a valid month; use a whole number from 1 to 12`)
}

function requireDate(date: string): void {
  const match = /^(?:(\d{4})-)?(\d{2})-(\d{2})$/.exec(date)
  // uses a leap year, so that every year's 02-29 is valid
  const time = match ? Date.parse(`${match[1] ?? '2024'}-${match[2]}-${match[3]}T00:00:00Z`) : Number.NaN
  if (Number.isFinite(time) && new Date(time).toISOString().slice(5, 10) === date.slice(-5)) return
  throw new AppError(
    'PLUG_FAILED',
    `"${date}" is not a valid date; use one such as 2026-12-25, or 12-25 for every year`,
  )
}
