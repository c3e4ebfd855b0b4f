/** Expands plain cron lists to their values, using cron-parser. */
import { CronExpressionParser } from 'cron-parser'

/** Items per field with cron-parser's numbers, such as `5`, `*` or `0-59/15`; empty for an unset field. */
export interface PlainFields {
  seconds: readonly string[]
  minutes: readonly string[]
  hours: readonly string[]
  days: readonly string[]
  months: readonly string[]
  weekdays: readonly string[]
}

export function expandFields(fields: PlainFields): Record<keyof PlainFields, number[]> {
  const values = {
    seconds: new Set<number>(),
    minutes: new Set<number>(),
    hours: new Set<number>(),
    days: new Set<number>(),
    months: new Set<number>(),
    weekdays: new Set<number>(),
  }
  const rows = mapFields(fields, toRows)
  const height = Math.max(...Object.values(rows).map((items) => items.length))
  for (let row = 0; row < height; row++) {
    const { seconds, minutes, hours, days, months, weekdays } = mapFields(rows, (items) => items[row])
    const read = CronExpressionParser.parse(
      `${seconds ?? 0} ${minutes ?? 0} ${hours ?? 0} * ${months ?? '*'} ${weekdays ?? '*'}`,
    ).fields
    if (seconds !== undefined) add(values.seconds, read.second.values)
    if (minutes !== undefined) add(values.minutes, read.minute.values)
    if (hours !== undefined) add(values.hours, read.hour.values)
    if (months !== undefined) add(values.months, read.month.values)
    if (weekdays !== undefined) {
      add(
        values.weekdays,
        read.dayOfWeek.values.map((value) => Number(value) % 7),
      )
    }
    // parsed separately, since cron-parser rejects 30 February even if a weekday matches, too
    if (days !== undefined) add(values.days, CronExpressionParser.parse(`0 0 0 ${days} * *`).fields.dayOfMonth.values)
  }
  return mapFields(values, (set) => [...set].toSorted((a, b) => a - b))
}

/** Groups items, since cron-parser rejects duplicates: one list for single values, one per range. */
function toRows(items: readonly string[]): string[] {
  const singles = new Set(items.filter((item) => /^\d+$/.test(item)))
  const others = new Set(items.filter((item) => !singles.has(item)))
  return singles.size > 0 ? [[...singles].join(','), ...others] : [...others]
}

function add(values: Set<number>, more: readonly unknown[]): void {
  for (const value of more) values.add(Number(value))
}

function mapFields<A, B>(fields: Record<keyof PlainFields, A>, change: (field: A) => B): Record<keyof PlainFields, B> {
  return {
    seconds: change(fields.seconds),
    minutes: change(fields.minutes),
    hours: change(fields.hours),
    days: change(fields.days),
    months: change(fields.months),
    weekdays: change(fields.weekdays),
  }
}
