/** Completes a rule from its start: fills in missing parts, and aligns the rule's periods (RFC 5545, 3.3.10). */
import { DAY_SECONDS, civilDay, weekdayOf } from './civil.ts'
import { FREQUENCIES, type RrulePlan } from './rrule-plan.ts'

const SECONDS_OF: Readonly<Record<string, number>> = { HOURLY: 3600, MINUTELY: 60, SECONDLY: 1 }
/** 3 February 1970, 01:01:01, a Tuesday: differs from the start of the epoch in every part. */
const OTHER_IN_EVERY_PART = 33 * DAY_SECONDS + 3661
const ALL_SIXTY = Array.from({ length: 60 }, (_, index) => index)
const ALL_HOURS = ALL_SIXTY.slice(0, 24)

/** Fills in the missing parts. `start`: start in seconds of the wall clock. */
export function completedPlan(plan: RrulePlan, start: number): RrulePlan {
  const today = Math.floor(start / DAY_SECONDS)
  const { month, day } = civilDay(today)
  const second = start - today * DAY_SECONDS
  const { frequency, months, monthDays, weekdays, hours, minutes, seconds } = plan
  const isFinerThan = (fallback: (typeof FREQUENCIES)[number]): boolean =>
    FREQUENCIES.indexOf(frequency) > FREQUENCIES.indexOf(fallback)
  const anyDay = plan.yearDays.length + plan.weekNumbers.length + monthDays.length + weekdays.length === 0
  const isWeekly =
    frequency === 'WEEKLY' || (plan.weekNumbers.length > 0 && monthDays.length + plan.yearDays.length === 0)
  const isDated = frequency === 'MONTHLY' || frequency === 'YEARLY'
  return {
    ...plan,
    months: frequency === 'YEARLY' && anyDay && months.length === 0 ? [month] : months,
    monthDays: isDated && anyDay ? [day] : monthDays,
    weekdays: isWeekly && weekdays.length === 0 ? [{ weekday: weekdayOf(today), nth: undefined }] : weekdays,
    hours: orElse(hours, isFinerThan('DAILY') ? ALL_HOURS : [Math.floor(second / 3600)]),
    minutes: orElse(minutes, isFinerThan('HOURLY') ? ALL_SIXTY : [Math.floor(second / 60) % 60]),
    seconds: orElse(seconds, isFinerThan('MINUTELY') ? ALL_SIXTY : [second % 60]),
  }
}

/** Returns a start that tasks with the same rule can share, or the actual start if that is impossible. */
export function sharedStart(plan: RrulePlan, start: number): number {
  if (plan.count !== undefined || start < 0) return start
  const unit = SECONDS_OF[plan.frequency]
  if (unit !== undefined) {
    const stride = plan.interval * unit
    return (Math.floor(start / unit) * unit) % stride
  }
  return plan.interval === 1 ? 0 : start
}

export function dependsOnStart(plan: RrulePlan): boolean {
  if (plan.count !== undefined || plan.interval !== 1) return true
  return JSON.stringify(completedPlan(plan, 0)) !== JSON.stringify(completedPlan(plan, OTHER_IN_EVERY_PART))
}

export function repeatsInEveryHour(plan: RrulePlan): boolean {
  if (plan.count !== undefined || plan.hours.length < 24) return false
  const unit = SECONDS_OF[plan.frequency]
  return unit === undefined ? plan.positions.length === 0 : plan.interval * unit <= 3600
}

function orElse(times: readonly number[], fallback: readonly number[]): readonly number[] {
  return times.length > 0 ? times : fallback
}
