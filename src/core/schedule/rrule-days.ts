/** Finds the days that the BY parts of a rule allow (RFC 5545, 3.3.10), regardless of the rule's periods. */
import { civilDay, dayNumber, daysInMonth, isLeapYear, weekdayOf } from './civil.ts'
import type { OrdinalWeekday, RrulePlan } from './rrule-plan.ts'

/** Returns the first allowed day from `from` (inclusive) to `until` (exclusive), or -Infinity. Days are day numbers. */
export type DaySearch = (from: number, until: number) => number

export const NO_DAY = -Infinity

export function daySearch(plan: RrulePlan): DaySearch {
  const allows = dayFilter(plan)
  const months = new Set(plan.months)
  return (from, until) => {
    let { year, month, day } = civilDay(from)
    for (let at = from; at < until;) {
      const size = daysInMonth(year, month)
      if (months.size === 0 || months.has(month)) {
        for (; day <= size && at < until; day++, at++) if (allows(year, month, day, at)) return at
        if (at >= until) return NO_DAY
      } else at += size - day + 1
      day = 1
      month = month === 12 ? 1 : month + 1
      if (month === 1) year++
    }
    return NO_DAY
  }
}

type DayFilter = (year: number, month: number, day: number, at: number) => boolean

function dayFilter(plan: RrulePlan): DayFilter {
  const filters: DayFilter[] = []
  const { monthDays, yearDays, weekNumbers, weekdays, weekStart } = plan
  if (monthDays.length > 0) {
    const allowed = new Set(monthDays)
    filters.push((year, month, day) => allowed.has(day) || allowed.has(day - daysInMonth(year, month) - 1))
  }
  if (yearDays.length > 0) {
    const allowed = new Set(yearDays)
    filters.push((year, _month, _day, at) => {
      const ofYear = at - dayNumber(year, 1, 1) + 1
      return allowed.has(ofYear) || allowed.has(ofYear - yearSize(year) - 1)
    })
  }
  if (weekdays.length > 0)
    filters.push(weekdayFilter(weekdays, plan.frequency === 'YEARLY' && plan.months.length === 0))
  if (weekNumbers.length > 0) {
    const allowed = new Set(weekNumbers)
    filters.push((_year, _month, _day, at) => {
      const week = weekOf(at, weekStart)
      return allowed.has(week.number) || allowed.has(week.number - week.count - 1)
    })
  }
  return (year, month, day, at) => filters.every((filter) => filter(year, month, day, at))
}

/** `3FR` counts within the year for a yearly rule without months, otherwise within the month. */
function weekdayFilter(weekdays: readonly OrdinalWeekday[], inYear: boolean): DayFilter {
  const each = new Set(weekdays.filter(({ nth }) => nth === undefined).map(({ weekday }) => weekday))
  const numbered = weekdays.filter(({ nth }) => nth !== undefined)
  return (year, month, day, at) => {
    const weekday = weekdayOf(at)
    if (each.has(weekday)) return true
    if (!numbered.some((item) => item.weekday === weekday)) return false
    const size = inYear ? yearSize(year) : daysInMonth(year, month)
    const position = inYear ? at - dayNumber(year, 1, 1) : day - 1
    const fromStart = Math.floor(position / 7) + 1
    const fromEnd = -Math.floor((size - 1 - position) / 7) - 1
    return numbered.some((item) => item.weekday === weekday && (item.nth === fromStart || item.nth === fromEnd))
  }
}

/** Returns a day's week number; week 1 is the first week with at least four days in its year. */
function weekOf(day: number, weekStart: number): { number: number; count: number } {
  const start = day - ((weekdayOf(day) - weekStart + 7) % 7)
  const { year } = civilDay(start + 3)
  const first = firstWeek(year, weekStart)
  return { number: (start - first) / 7 + 1, count: (firstWeek(year + 1, weekStart) - first) / 7 }
}

function firstWeek(year: number, weekStart: number): number {
  const fourth = dayNumber(year, 1, 4)
  return fourth - ((weekdayOf(fourth) - weekStart + 7) % 7)
}

function yearSize(year: number): number {
  return isLeapYear(year) ? 366 : 365
}
