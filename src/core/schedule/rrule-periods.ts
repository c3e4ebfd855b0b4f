/** The periods of a rule: year, month, week or day number `index` of those that INTERVAL keeps, as spans of days. */
import { civilDay, dayNumber, weekdayOf } from './civil.ts'
import type { Frequency } from './rrule-plan.ts'

export interface Periods {
  /** index of the kept period that holds the day, or of the last one before it */
  indexOf(day: number): number
  /** first day of the period, and first day after it */
  span(index: number): { from: number; until: number }
}

export function dayPeriods(frequency: Frequency, interval: number, weekStart: number, startDay: number): Periods {
  const start = civilDay(startDay)
  if (frequency === 'YEARLY' || frequency === 'MONTHLY') {
    const size = frequency === 'YEARLY' ? 12 : 1
    const first = frequency === 'YEARLY' ? start.year * 12 : start.year * 12 + start.month - 1
    return {
      indexOf: (day) => {
        const { year, month } = civilDay(day)
        return Math.floor((year * 12 + month - 1 - first) / (size * interval))
      },
      span: (index) => {
        const months = first + index * size * interval
        return { from: dayNumber(0, months + 1, 1), until: dayNumber(0, months + size + 1, 1) }
      },
    }
  }
  const size = frequency === 'WEEKLY' ? 7 : 1
  const first = frequency === 'WEEKLY' ? startDay - ((weekdayOf(startDay) - weekStart + 7) % 7) : startDay
  return {
    indexOf: (day) => Math.floor((day - first) / (size * interval)),
    span: (index) => ({ from: first + index * size * interval, until: first + index * size * interval + size }),
  }
}
