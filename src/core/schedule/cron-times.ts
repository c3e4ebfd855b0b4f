/** Computes local times of a cron expression with tables, so a query takes well under a microsecond. */
import { DAY_MS, DAY_SECONDS, SECOND_MS, civilDay, dayNumber } from './civil.ts'
import { daysOfMonth, type CronDays } from './cron-days.ts'
import type { LocalTimes } from './schedule.ts'
import { timeOfDay, type ClockFields } from './time-of-day.ts'

export interface CronPlan extends ClockFields {
  months: readonly number[]
  years: readonly number[] | undefined
  days: CronDays
}

export const CRON_FIRST_YEAR = 1970
export const CRON_LAST_YEAR = 2099

export function cronTimes(plan: CronPlan): LocalTimes {
  const time = timeOfDay(plan)
  const firstTime = time(0)
  const months = new Set(plan.months)
  const years = plan.years && new Set(plan.years)
  const firstDay = dayNumber(CRON_FIRST_YEAR, 1, 1)
  let known = -1
  let knownBits = 0

  const bitsOf = (year: number, month: number): number => {
    if (!months.has(month) || (years && !years.has(year))) return 0
    const wanted = year * 12 + month
    if (known !== wanted) {
      knownBits = daysOfMonth(plan.days, year, month)
      known = wanted
    }
    return knownBits
  }

  const dayAtOrAfter = (from: number): number | null => {
    let { year, month, day } = civilDay(Math.max(from, firstDay))
    while (year <= CRON_LAST_YEAR) {
      const bits = (bitsOf(year, month) >>> (day - 1)) << (day - 1)
      if (bits !== 0) return dayNumber(year, month, 32 - Math.clz32(bits & -bits))
      day = 1
      month = month === 12 ? 1 : month + 1
      if (month === 1) year++
    }
    return null
  }

  return {
    next(after) {
      const second = Math.floor(after / SECOND_MS) + 1
      const today = Math.floor(second / DAY_SECONDS)
      const day = dayAtOrAfter(today)
      if (day === null) return null
      if (day > today) return day * DAY_MS + firstTime * SECOND_MS
      const later = time(second - today * DAY_SECONDS)
      if (later >= 0) return today * DAY_MS + later * SECOND_MS
      const tomorrow = dayAtOrAfter(today + 1)
      return tomorrow === null ? null : tomorrow * DAY_MS + firstTime * SECOND_MS
    },
  }
}
