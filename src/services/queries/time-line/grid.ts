/** Divides time into numbered buckets: multiples of a fixed width, or periods in the calendar of a time zone. */
import { beginOfPeriod, periodOf, type PeriodUnit, skippedDays } from '#services/shared'

export interface Grid {
  /** `freq` as shown in results */
  readonly text: string
  /** width in ms; undefined when buckets differ in width */
  readonly width: number | undefined
  /** approximate width in ms, used to choose a range */
  readonly usualWidth: number
  numberOf(time: number): number
  /** Returns the epoch ms at which a bucket begins. */
  beginOf(number: number): number
}

export function evenGrid(width: number, origin: number, text: string): Grid {
  return {
    text,
    width,
    usualWidth: width,
    numberOf: (time) => Math.floor((time - origin) / width),
    beginOf: (number) => origin + number * width,
  }
}

const DAY = 86_400_000
const DAYS: Readonly<Record<PeriodUnit['unit'], number>> = { day: 1, week: 7, month: 30 }

export function calendarGrid(unit: PeriodUnit, zone: string, text: string): Grid {
  return {
    text,
    width: undefined,
    usualWidth: DAYS[unit.unit] * unit.count * DAY,
    ...(unit.unit === 'day' && unit.count === 1 ? daysOf(zone) : periodsOf(unit, zone)),
  }
}

function periodsOf(unit: PeriodUnit, zone: string): Pick<Grid, 'numberOf' | 'beginOf'> {
  return {
    numberOf: (time) => periodOf(time, zone, unit),
    beginOf: (number) => beginOfPeriod(number, zone, unit),
  }
}

function daysOf(zone: string): Pick<Grid, 'numberOf' | 'beginOf'> {
  const days = periodsOf({ unit: 'day', count: 1 }, zone)
  const skipped = skippedDays(zone)
  return {
    numberOf(time) {
      const day = days.numberOf(time)
      return day - skipped.filter((one) => one < day).length
    },
    beginOf: (number) => days.beginOf(skipped.reduce((day, one) => (one <= day ? day + 1 : day), number)),
  }
}

export function firstFrom(grid: Grid, time: number): number {
  const number = grid.numberOf(time)
  return grid.beginOf(number) === time ? number : number + 1
}
