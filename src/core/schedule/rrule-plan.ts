/** Parses one RRULE value to a plan; the package rrule accepts invalid parts, so the checks come first. */
import rr from 'rrule'
import type { Issue } from '#kernel'
import { icalDate, type IcalDate } from './ical-date.ts'
import { quoted, scheduleProblem } from './schedule-problem.ts'

export const FREQUENCIES = ['YEARLY', 'MONTHLY', 'WEEKLY', 'DAILY', 'HOURLY', 'MINUTELY', 'SECONDLY'] as const
export type Frequency = (typeof FREQUENCIES)[number]

export interface OrdinalWeekday {
  weekday: number
  /** 3 for third, -1 for last; undefined: each */
  nth: number | undefined
}

export interface RrulePlan {
  frequency: Frequency
  interval: number
  count: number | undefined
  until: IcalDate | undefined
  /** 0 = Sunday; default Monday */
  weekStart: number
  months: readonly number[]
  weekNumbers: readonly number[]
  yearDays: readonly number[]
  monthDays: readonly number[]
  weekdays: readonly OrdinalWeekday[]
  hours: readonly number[]
  minutes: readonly number[]
  seconds: readonly number[]
  positions: readonly number[]
}

export const MAX_COUNT = 10_000
const MAX_INTERVAL = 1_000_000_000

const NUMBER_PARTS: Readonly<Record<string, { min: number; max: number; signed?: true }>> = {
  BYSECOND: { min: 0, max: 59 },
  BYMINUTE: { min: 0, max: 59 },
  BYHOUR: { min: 0, max: 23 },
  BYMONTHDAY: { min: 1, max: 31, signed: true },
  BYYEARDAY: { min: 1, max: 366, signed: true },
  BYWEEKNO: { min: 1, max: 53, signed: true },
  BYMONTH: { min: 1, max: 12 },
  BYSETPOS: { min: 1, max: 366, signed: true },
}
const WEEKDAYS = ['SU', 'MO', 'TU', 'WE', 'TH', 'FR', 'SA']
const WEEKDAY = /^(?:([+-]?)(\d{1,2}))?(SU|MO|TU|WE|TH|FR|SA)$/
const KNOWN = ['FREQ', 'INTERVAL', 'COUNT', 'UNTIL', 'WKST', 'BYDAY', ...Object.keys(NUMBER_PARTS)]

type Report = (problem: Issue) => void

/** Parses `value`, the text after `RRULE:`. Returns undefined when problems were reported. */
export function rrulePlan(value: string, report: Report): RrulePlan | undefined {
  let problems = 0
  const refuse = (message: string, suggestion: string): void => {
    problems++
    report(scheduleProblem('rrule', message, suggestion))
  }
  const parts = readParts(value, refuse)
  for (const [name, text] of parts) checkPart(name, text, refuse)
  checkTogether(parts, refuse)
  if (problems > 0) return undefined
  const text = [...parts].map(([name, part]) => `${name}=${part}`).join(';')
  return toPlan(rr.RRule.parseString(text), icalDate(parts.get('UNTIL') ?? ''))
}

type Refuse = (message: string, suggestion: string) => void

function readParts(value: string, refuse: Refuse): Map<string, string> {
  const parts = new Map<string, string>()
  for (const part of value.trim().toUpperCase().split(';')) {
    if (part === '') continue
    const equals = part.indexOf('=')
    const name = equals < 0 ? part : part.slice(0, equals)
    if (!KNOWN.includes(name)) refuse(`${quoted(part)} is not a part of a rule`, `use the parts ${KNOWN.join(', ')}`)
    else if (parts.has(name)) refuse(`${name} appears twice`, 'write it once, as a list')
    else parts.set(name, part.slice(equals + 1))
  }
  return parts
}

function checkPart(name: string, text: string, refuse: Refuse): void {
  const range = NUMBER_PARTS[name]
  if (name === 'FREQ' && !FREQUENCIES.some((frequency) => frequency === text)) {
    refuse(`FREQ: ${quoted(text)} is not a valid frequency`, `FREQ takes ${FREQUENCIES.join(', ')}`)
  } else if (name === 'INTERVAL' && !isWhole(text, 1, MAX_INTERVAL)) {
    refuse(`INTERVAL: ${quoted(text)} is out of range`, `INTERVAL takes 1-${MAX_INTERVAL}`)
  } else if (name === 'COUNT' && !isWhole(text, 1, MAX_COUNT)) {
    refuse(`COUNT: ${quoted(text)} is out of range`, `COUNT takes 1-${MAX_COUNT}; for more use UNTIL`)
  } else if (name === 'UNTIL' && icalDate(text) === undefined) {
    refuse(
      `UNTIL: ${quoted(text)} is not a valid date of 1600-2199`,
      'use 20301231, 20301231T090000 or 20301231T090000Z',
    )
  } else if (name === 'WKST' && !WEEKDAYS.includes(text)) {
    refuse(`WKST: ${quoted(text)} is not a weekday`, `WKST takes ${WEEKDAYS.join(', ')}`)
  } else if (name === 'BYDAY') {
    for (const item of text.split(',')) {
      const match = WEEKDAY.exec(item)
      if (!match || (match[2] !== undefined && !isWhole(match[2], 1, 53))) {
        refuse(`BYDAY: ${quoted(item)} is not a weekday`, 'BYDAY takes SU-SA, with 1-53 or -53--1 before it')
      }
    }
  } else if (range) {
    for (const item of text.split(',')) {
      const digits = range.signed ? item.replace(/^[+-]/, '') : item
      if (isWhole(digits, range.min, range.max)) continue
      const negative = range.signed ? ` or -${range.max}--${range.min}` : ''
      refuse(`${name}: ${quoted(item)} is out of range`, `${name} takes ${range.min}-${range.max}${negative}`)
    }
  }
}

function isWhole(text: string, min: number, max: number): boolean {
  return /^\d{1,10}$/.test(text) && Number(text) >= min && Number(text) <= max
}

function checkTogether(parts: ReadonlyMap<string, string>, refuse: Refuse): void {
  const frequency = parts.get('FREQ')
  const isOneOf = (...some: Frequency[]): boolean => some.some((name) => name === frequency)
  if (frequency === undefined) refuse('FREQ is missing', `FREQ takes ${FREQUENCIES.join(', ')}`)
  if (parts.has('COUNT') && parts.has('UNTIL')) refuse('COUNT and UNTIL are both set', 'use one of them')
  if (parts.has('BYWEEKNO') && !isOneOf('YEARLY')) refuse('BYWEEKNO needs FREQ=YEARLY', 'use BYDAY or FREQ=YEARLY')
  if (parts.has('BYYEARDAY') && isOneOf('DAILY', 'WEEKLY', 'MONTHLY')) {
    refuse(`BYYEARDAY is not allowed with FREQ=${frequency}`, 'use FREQ=YEARLY')
  }
  if (parts.has('BYMONTHDAY') && isOneOf('WEEKLY'))
    refuse('BYMONTHDAY is not allowed with FREQ=WEEKLY', 'use FREQ=DAILY')
  const hasOrdinal = /\d/.test(parts.get('BYDAY') ?? '')
  if (hasOrdinal && (!isOneOf('YEARLY', 'MONTHLY') || parts.has('BYWEEKNO'))) {
    refuse('BYDAY with a number needs FREQ=MONTHLY, or FREQ=YEARLY without BYWEEKNO', 'omit the number')
  }
  if (parts.has('BYSETPOS') && ![...parts.keys()].some((name) => name.startsWith('BY') && name !== 'BYSETPOS')) {
    refuse('BYSETPOS needs another BY part', 'add one, such as BYDAY')
  }
}

type ParsedOptions = ReturnType<typeof rr.RRule.parseString>

function toPlan(options: ParsedOptions, until: IcalDate | undefined): RrulePlan {
  return {
    frequency: FREQUENCIES[options.freq ?? 0] ?? 'YEARLY',
    interval: options.interval ?? 1,
    count: options.count ?? undefined,
    until,
    weekStart: options.wkst === undefined || options.wkst === null ? 1 : toWeekday(options.wkst).weekday,
    months: numbers(options.bymonth),
    weekNumbers: numbers(options.byweekno),
    yearDays: numbers(options.byyearday),
    monthDays: numbers(options.bymonthday),
    weekdays: list(options.byweekday).map(toWeekday),
    hours: numbers(options.byhour),
    minutes: numbers(options.byminute),
    seconds: numbers(options.bysecond),
    positions: numbers(options.bysetpos),
  }
}

function toWeekday(value: rr.Weekday | rr.WeekdayStr | number): OrdinalWeekday {
  if (typeof value === 'object') return { weekday: (value.weekday + 1) % 7, nth: value.n }
  return { weekday: typeof value === 'number' ? (value + 1) % 7 : WEEKDAYS.indexOf(value), nth: undefined }
}

function list<T>(value: T | T[] | null | undefined): T[] {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? value : [value]
}

function numbers(value: number | number[] | null | undefined): number[] {
  return [...new Set(list(value))].toSorted((a, b) => a - b)
}
