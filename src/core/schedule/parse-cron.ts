/**
 * Parses cron expressions: six or seven fields are Quartz's, five are unix's with the minute first; weekdays differ (1
 * to 7, or 0 to 7 from Sunday).
 */
import type { Issue } from '#kernel'
import { expandFields } from './cron-expand.ts'
import { CRON_FIELDS, plainItem, type CronField } from './cron-fields.ts'
import { splitDates, splitWeekdays } from './cron-special-days.ts'
import { CRON_FIRST_YEAR, CRON_LAST_YEAR, cronTimes, type CronPlan } from './cron-times.ts'
import type { Recurrence } from './schedule.ts'
import { quoted, scheduleError, scheduleProblem } from './schedule-problem.ts'

const LONGEST = 1000
const FORMS =
  'use 6 or 7 fields (second minute hour day-of-month month day-of-week [year]), 5 unix fields, or @hourly, @daily, @weekly, @monthly or @yearly'
const NAMED: ReadonlyMap<string, string> = new Map([
  ['@HOURLY', '0 * * * *'],
  ['@DAILY', '0 0 * * *'],
  ['@MIDNIGHT', '0 0 * * *'],
  ['@WEEKLY', '0 0 * * 0'],
  ['@MONTHLY', '0 0 1 * *'],
  ['@YEARLY', '0 0 1 1 *'],
  ['@ANNUALLY', '0 0 1 1 *'],
])

type Report = (problem: Issue) => void

/** Parses an expression. Throws `SCHEDULE` with all problems at once. */
export function parseCron(expression: string): Recurrence {
  const problems: Issue[] = []
  const plan = readPlan(expression, problems)
  if (plan === undefined) throw scheduleError(problems)
  const times = cronTimes(plan)
  if (times.next(-1) === null) {
    const years = `${CRON_FIRST_YEAR} to ${CRON_LAST_YEAR}`
    throw scheduleError([
      scheduleProblem(
        'cron',
        `${quoted(expression)} never runs from ${years}`,
        'use a day that exists in one of its months',
      ),
    ])
  }
  return { key: keyOf(plan), times, everyHour: plan.hours.length === 24, anyStart: true }
}

export function cronWarning(expression: string): Issue | undefined {
  const fields = fieldsOf(expression)
  const [date, weekday] = [fields[2], fields[4]]
  if (fields.length !== 5 || isAny(date?.split(',')) || isAny(weekday?.split(','))) return undefined
  return scheduleProblem(
    'cron',
    `day-of-month "${date}" and day-of-week "${weekday}" are both set: it runs on days that match either`,
    'for days that match both, use an rrule such as FREQ=MONTHLY;BYMONTHDAY=13;BYDAY=FR',
  )
}

function fieldsOf(expression: string): string[] {
  if (typeof expression !== 'string' || expression.length > LONGEST) return []
  const text = expression.trim().toUpperCase()
  return (NAMED.get(text) ?? text).split(/\s+/)
}

function readPlan(expression: string, problems: Issue[]): CronPlan | undefined {
  const report = (problem: Issue): void => void problems.push(problem)
  const fields = fieldsOf(expression)
  if (fields.length < 5 || fields.length > 7) {
    report(scheduleProblem('cron', `${quoted(expression)} is not a cron expression`, FORMS))
    return undefined
  }
  const isUnix = fields.length === 5
  const [second, minute, hour, date, month, weekday, year] = (isUnix ? ['0', ...fields] : fields).map((field) =>
    field.split(','),
  )
  const bothDays = !isAny(date) && !isAny(weekday)
  if (bothDays && !isUnix) {
    const both = `"${date?.join(',')}" and "${weekday?.join(',')}"`
    report(scheduleProblem('cron', `day-of-month and day-of-week are both set: ${both}`, 'use ? for one of them'))
  }
  const weekdayField = isUnix ? CRON_FIELDS.unixWeekday : CRON_FIELDS.quartzWeekday
  const dates = splitDates(date ?? [])
  const weekdays = splitWeekdays(weekday ?? [], weekdayField)
  const plain = {
    seconds: plainItems(second, CRON_FIELDS.second, report),
    minutes: plainItems(minute, CRON_FIELDS.minute, report),
    hours: plainItems(hour, CRON_FIELDS.hour, report),
    days: plainItems(dates.plain, CRON_FIELDS.dayOfMonth, report),
    months: plainItems(month, CRON_FIELDS.month, report),
    weekdays: plainItems(weekdays.plain, weekdayField, report),
  }
  const years = isAny(year) ? undefined : expandYears(plainItems(year, CRON_FIELDS.year, report))
  if (problems.length > 0) return undefined
  const { days, weekdays: daysOfWeek, ...values } = expandFields(plain)
  const either = isUnix && bothDays
  return { ...values, years, days: { ...dates.special, ...weekdays.special, days, weekdays: daysOfWeek, either } }
}

/** Returns a short key, because fleets hold many: each list of numbers becomes the bits of one number. */
function keyOf({ seconds, minutes, hours, months, years, days }: CronPlan): string {
  const { nthWeekdays, either, ...lists } = days
  const bits = [seconds, minutes, hours, months, ...Object.values(lists)].map(bitText)
  return `cron ${bits.join(' ')} ${nthWeekdays.join(';')} ${either ? 'or' : 'and'} ${years?.join(',') ?? '*'}`
}

function bitText(values: readonly number[]): string {
  let bits = 0n
  for (const value of values) bits |= 1n << BigInt(value)
  return bits.toString(36)
}

function isAny(items: readonly string[] | undefined): boolean {
  return items === undefined || (items.length === 1 && (items[0] === '*' || items[0] === '?'))
}

function plainItems(items: readonly string[] | undefined, field: CronField, report: Report): string[] {
  return (items ?? []).flatMap((item) => plainItem(item, field, report)?.split(',') ?? [])
}

/** Expands the years field, which cron-parser does not support. */
function expandYears(items: readonly string[]): number[] {
  return items.flatMap((item) => {
    const [range = '', step = '1'] = item.split('/')
    const [from = '', until = from] = range.split('-')
    const years: number[] = []
    for (let year = Number(from); year <= Number(until); year += Number(step)) years.push(year)
    return years
  })
}
