/** Implements the functions of expressions that JavaScript lacks. */
import type { AnyNode } from 'acorn'
import { calendarOf, zoneFormat } from '../../plug/calendar.ts'
import { nearest } from '#kernel'

export interface WrongCall {
  readonly message: string
  readonly suggestion: string
}

const CALENDAR = ['year', 'month', 'day', 'weekday', 'hour', 'minute', 'second'] as const
export type CalendarPart = (typeof CALENDAR)[number]

export const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const

const FORMS: ReadonlyMap<string, readonly [form: string, least: number, most: number]> = new Map([
  ['between', ['between(x, low, high)', 3, 3]],
  ['contains', ['contains(textOrList, part)', 2, 2]],
  ['isKnown', ['isKnown(x)', 1, 1]],
  ['number', ['number(x)', 1, 1]],
  ...CALENDAR.map(
    (name) => [name, [`${name}(now) or ${name}(now, "Europe/Brussels")`, 1, 2]] as [string, [string, number, number]],
  ),
])

/** Matches ISO 8601 with a zone, or a date; other forms would depend on the local time zone of the machine. */
export const INSTANT = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/

/** Range of Date: ms before and after 1970. */
export const MAX_INSTANT = 8.64e15

export const WORD_FUNCTIONS: ReadonlySet<string> = new Set(FORMS.keys())

export function isCalendarPart(name: string): name is CalendarPart {
  return CALENDAR.some((part) => part === name)
}

export function wrongCall(name: string, args: readonly AnyNode[]): WrongCall | undefined {
  const [form, least, most] = FORMS.get(name) ?? ['', 0, Number.POSITIVE_INFINITY]
  if (args.length < least || args.length > most || args.some(({ type }) => type === 'SpreadElement')) {
    const count = least === most ? `${least}` : `${least} or ${most}`
    return { message: `${name} needs ${count} arguments, written separately`, suggestion: `write ${form}` }
  }
  if (name === 'between') return wrappedRange(args)
  const zone = args[1]
  if (!isCalendarPart(name) || zone === undefined) return undefined
  if (zone.type !== 'Literal' || typeof zone.value !== 'string') {
    const message = 'the time zone is computed'
    return { message, suggestion: `write it literally, such as ${name}(now, "Europe/Brussels")` }
  }
  try {
    zoneFormat(zone.value)
    return undefined
  } catch {
    const message = `"${zone.value}" is not a time zone`
    return { message, suggestion: 'write a zone such as Europe/Brussels or +02:00, or omit it for UTC' }
  }
}

/** Reports `between` across midnight or the new year: it compares numbers, and does not wrap around. */
function wrappedRange([value, low, high]: readonly AnyNode[]): WrongCall | undefined {
  if (value?.type !== 'CallExpression' || value.callee.type !== 'Identifier') return undefined
  const part = value.callee.name
  if (!isCalendarPart(part) || low?.type !== 'Literal' || high?.type !== 'Literal') return undefined
  if (typeof low.value !== 'number' || typeof high.value !== 'number' || low.value <= high.value) return undefined
  return {
    message: `between is never true, because ${low.value} is above ${high.value}`,
    suggestion: `write ${part}(...) >= ${low.value} || ${part}(...) <= ${high.value} for a range that wraps around`,
  }
}

export function similarFunction(name: string, others: Iterable<string> = []): string | undefined {
  return nearest(name, [...WORD_FUNCTIONS, ...others])
}

/** Returns a function that reads one part of the date and time of an instant (epoch ms) in a time zone; default UTC. */
export function calendarReader(part: CalendarPart, zone?: string): (instant: number) => number | string {
  if (zone === undefined) return (instant) => IN_UTC[part](new Date(instant))
  const format = zoneFormat(zone)
  return (instant) => {
    const all = calendarOf(format, instant)
    switch (part) {
      case 'weekday':
        return all.dayString
      case 'hour':
        return all.hours
      case 'minute':
        return all.minutes
      case 'second':
        return all.seconds
      default:
        return all[part]
    }
  }
}

const IN_UTC: Readonly<Record<CalendarPart, (date: Date) => number | string>> = {
  year: (date) => date.getUTCFullYear(),
  month: (date) => date.getUTCMonth() + 1,
  day: (date) => date.getUTCDate(),
  weekday: (date) => DAYS[date.getUTCDay()] ?? '',
  hour: (date) => date.getUTCHours(),
  minute: (date) => date.getUTCMinutes(),
  second: (date) => date.getUTCSeconds(),
}
