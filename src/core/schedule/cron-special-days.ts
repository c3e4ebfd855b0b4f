/** Parses cron day items that depend on the calendar: `L`, `L-3`, `LW`, `15W`, `6L`, `6#3`. */
import type { CronDays } from './cron-days.ts'
import { CRON_FIELDS, fieldValue, type CronField } from './cron-fields.ts'

type SpecialDates = Pick<CronDays, 'beforeLast' | 'beforeLastWeekday' | 'nearestWeekday'>
type SpecialWeekdays = Pick<CronDays, 'lastWeekdays' | 'nthWeekdays'>

export interface SplitDays<Special> {
  special: Special
  plain: readonly string[]
}

const BEFORE_LAST = /^L(?:-([12]?\d|30))?(W)?$/
const NEAREST = /^(\d{1,2})W$/
const LAST_WEEKDAY = /^([A-Z]{3}|\d)L$/
const NTH_WEEKDAY = /^([A-Z]{3}|\d)#([1-5])$/

/** Splits the items of a day-of-month field. Malformed items stay in `plain`, whose parser rejects them. */
export function splitDates(items: readonly string[]): SplitDays<SpecialDates> {
  const beforeLast: number[] = []
  const beforeLastWeekday: number[] = []
  const nearestWeekday: number[] = []
  const plain: string[] = []
  for (const item of items) {
    const last = BEFORE_LAST.exec(item)
    const nearest = fieldValue(NEAREST.exec(item)?.[1] ?? '', CRON_FIELDS.dayOfMonth)
    if (last) (last[2] === undefined ? beforeLast : beforeLastWeekday).push(Number(last[1] ?? 0))
    else if (nearest !== undefined) nearestWeekday.push(nearest)
    else plain.push(item)
  }
  return { special: { beforeLast, beforeLastWeekday, nearestWeekday }, plain }
}

/** Splits the items of a day-of-week field. `L` alone is the last day of the week, Saturday. */
export function splitWeekdays(items: readonly string[], field: CronField): SplitDays<SpecialWeekdays> {
  const lastWeekdays: number[] = []
  const nthWeekdays: (readonly [number, number])[] = []
  const plain: string[] = []
  const weekday = (text: string | undefined): number | undefined => {
    const value = fieldValue(text ?? '', field)
    return value === undefined ? undefined : (value + (field.shift ?? 0)) % 7
  }
  for (const item of items) {
    const last = weekday(LAST_WEEKDAY.exec(item)?.[1])
    const nth = NTH_WEEKDAY.exec(item)
    const nthDay = weekday(nth?.[1])
    if (last !== undefined) lastWeekdays.push(last)
    else if (nthDay !== undefined) nthWeekdays.push([nthDay, Number(nth?.[2])])
    else plain.push(item === 'L' ? 'SAT' : item)
  }
  return { special: { lastWeekdays, nthWeekdays }, plain }
}
