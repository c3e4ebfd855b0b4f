/** Normalizes items of cron fields to plain lists for cron-parser. */
import { scheduleProblem } from './schedule-problem.ts'
import type { Issue } from '#kernel'

export interface CronField {
  name: string
  min: number
  max: number
  names?: readonly string[]
  /** offset from a value to cron-parser's number */
  shift?: number
}

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']

export const CRON_FIELDS = {
  second: { name: 'second', min: 0, max: 59 },
  minute: { name: 'minute', min: 0, max: 59 },
  hour: { name: 'hour', min: 0, max: 23 },
  dayOfMonth: { name: 'day-of-month', min: 1, max: 31 },
  month: { name: 'month', min: 1, max: 12, names: MONTHS },
  quartzWeekday: { name: 'day-of-week', min: 1, max: 7, names: WEEKDAYS, shift: -1 },
  unixWeekday: { name: 'day-of-week', min: 0, max: 7, names: WEEKDAYS },
  year: { name: 'year', min: 1970, max: 2099 },
} as const satisfies Record<string, CronField>

const ITEM = /^(?:(\*|\?)|([A-Z]{3}|\d{1,4})(?:-([A-Z]{3}|\d{1,4}))?)?(?:\/(\d{1,4}))?$/

/** Returns the number of a value or name; undefined when out of range. */
export function fieldValue(text: string, field: CronField): number | undefined {
  const named = field.names?.indexOf(text) ?? -1
  if (named >= 0) return field.min + named
  if (!/^\d{1,4}$/.test(text)) return undefined
  const value = Number(text)
  return value >= field.min && value <= field.max ? value : undefined
}

export function describeField(field: CronField): string {
  const names = field.names ? ` or ${field.names[0]}-${field.names.at(-1)}` : ''
  return `${field.name} takes ${field.min}-${field.max}${names}`
}

/** Normalizes an item in upper case, such as `MON-FRI`, `0/15` or `22-2`; undefined if malformed. */
export function plainItem(item: string, field: CronField, report: (issue: Issue) => void): string | undefined {
  const match = item === '' ? null : ITEM.exec(item)
  const refuse = (why: string): undefined => {
    report(scheduleProblem('cron', `${field.name}: "${item}" ${why}`, describeField(field)))
  }
  if (!match) return refuse('is malformed')
  const [, any, first, last, stepText] = match
  const top = field === CRON_FIELDS.unixWeekday && last === undefined ? 6 : field.max
  const from = first === undefined ? field.min : fieldValue(first, field)
  const until =
    last === undefined ? (first !== undefined && stepText === undefined ? from : top) : fieldValue(last, field)
  if (from === undefined || until === undefined) return refuse('is out of range')
  const step = stepText === undefined ? 1 : Number(stepText)
  if (step < 1 || step > field.max - field.min + 1) {
    return refuse(`has a step outside 1-${field.max - field.min + 1}`)
  }
  if (any === '?' && (stepText !== undefined || !field.name.startsWith('day'))) {
    return refuse('is valid only as a whole day-of-month or day-of-week')
  }
  const shift = field.shift ?? 0
  if (from <= until)
    return step === 1 && from === until ? `${from + shift}` : `${from + shift}-${until + shift}/${step}`
  if (field === CRON_FIELDS.year) return refuse('runs backwards')
  return wrapAround(from, until, step, field)
    .map((value) => value + shift)
    .join(',')
}

function wrapAround(from: number, until: number, step: number, field: CronField): number[] {
  const size = field === CRON_FIELDS.unixWeekday ? 7 : field.max - field.min + 1
  const values: number[] = []
  for (let value = from; value <= until + size; value += step) values.push(((value - field.min) % size) + field.min)
  return values
}
