/** Finds the days of a month that match a cron expression, with Quartz's `L`, `L-3`, `W`, `LW`, `6L` and `6#3`. */
import { dayNumber, daysInMonth, weekdayOf } from './civil.ts'

export interface CronDays {
  days: readonly number[]
  /** days before the last day of the month: 0 for `L`, 3 for `L-3` */
  beforeLast: readonly number[]
  /** days before the last day of the month, moved to the nearest weekday: 0 for `LW` */
  beforeLastWeekday: readonly number[]
  /** `15W`: the weekday in the same month that is nearest to day 15 */
  nearestWeekday: readonly number[]
  weekdays: readonly number[]
  /** `6L`: the last such weekday of the month */
  lastWeekdays: readonly number[]
  /** `6#3`: weekday, and which occurrence of that weekday in the month */
  nthWeekdays: readonly (readonly [weekday: number, nth: number])[]
  /** for unix cron: with both day fields set, a day that matches one of them is enough */
  either: boolean
}

/** Returns the matching days of a month as bits, bit 0 for the first day. */
export function daysOfMonth(rule: CronDays, year: number, month: number): number {
  const size = daysInMonth(year, month)
  const firstWeekday = weekdayOf(dayNumber(year, month, 1))
  const byDate = bitsByDate(rule, size, firstWeekday)
  const byWeekday = bitsByWeekday(rule, size, firstWeekday)
  return rule.either ? byDate | byWeekday : byDate & byWeekday
}

function bitsByDate(rule: CronDays, size: number, firstWeekday: number): number {
  let bits = 0
  for (const day of rule.days) if (day <= size) bits |= 1 << (day - 1)
  for (const before of rule.beforeLast) if (before < size) bits |= 1 << (size - before - 1)
  for (const before of rule.beforeLastWeekday) {
    if (before < size) bits |= 1 << (nearestWeekday(size - before, size, firstWeekday) - 1)
  }
  for (const day of rule.nearestWeekday) if (day <= size) bits |= 1 << (nearestWeekday(day, size, firstWeekday) - 1)
  return bits
}

function bitsByWeekday(rule: CronDays, size: number, firstWeekday: number): number {
  let bits = 0
  const set = (day: number): void => {
    if (day >= 1 && day <= size) bits |= 1 << (day - 1)
  }
  const first = (weekday: number): number => 1 + ((weekday - firstWeekday + 7) % 7)
  for (const weekday of rule.weekdays) for (let day = first(weekday); day <= size; day += 7) set(day)
  for (const weekday of rule.lastWeekdays) set(first(weekday) + 7 * Math.floor((size - first(weekday)) / 7))
  for (const [weekday, nth] of rule.nthWeekdays) set(first(weekday) + 7 * (nth - 1))
  return bits
}

function nearestWeekday(day: number, size: number, firstWeekday: number): number {
  const weekday = (firstWeekday + day - 1) % 7
  if (weekday === 6) return day === 1 ? 3 : day - 1
  if (weekday === 0) return day === size ? day - 2 : day + 1
  return day
}
