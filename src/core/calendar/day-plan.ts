/** Plans local days of a calendar: the spans that begin on a day, in ms since its local midnight. */
import { AppError, type Issue } from '#kernel'
import { civilDay, DAY_MS, dayNumber, weekdayOf } from '../schedule/civil.ts'
import { parseRrule } from '../schedule/parse-rrule.ts'
import type { LocalTimes, Zone } from '../schedule/schedule.ts'
import { quoted, scheduleProblem } from '../schedule/schedule-problem.ts'
import type { Zones } from '../schedule/zone.ts'
import {
  type CalendarDay,
  type CalendarDocument,
  DAY_NAMES,
  type DaySpan,
  type Holiday,
  type Rotation,
  type Shift,
  type WeeklySpan,
} from './calendar.ts'

interface Span {
  readonly from: number
  /** exclusive; beyond a day: the span ends on the next day */
  readonly to: number
}

export interface ShiftSpan extends Span {
  readonly name: string
  readonly onCall: readonly string[]
}

export interface DayPlan {
  readonly open: readonly Span[]
  readonly shifts: readonly ShiftSpan[]
  readonly holiday: string | undefined
}

/** Returns the plan of a day, counted from 1970-01-01. */
export type PlanDay = (day: number) => DayPlan

const MAX_DAYS_KEPT = 1024
/** Recurring holidays without DTSTART begin in this year. */
const RULES_BEGIN = Date.UTC(2000, 0, 1)
const TIME = /^(?:([01]\d|2[0-3]):([0-5]\d)|24:00)$/
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/
const DATE_FORM = 'write a date such as 2026-12-25'
const ALL_DAY: readonly Span[] = [{ from: 0, to: DAY_MS }]

/** Reports problems of the parts that a schema cannot check; the returned function then must not be called. */
export function dayPlans(document: CalendarDocument, zone: Zone, zones: Zones, problems: Issue[]): PlanDay {
  const { hours, holidays = [], exceptions = [], shifts = [] } = document
  const report = (path: string, message: string, suggestion: string): void =>
    void problems.push(scheduleProblem(path, message, suggestion))
  const weekly = hours?.map((entry, i) => ({ entry, span: spanOf(entry, `hours/${i}`, report) }))
  const duties = shifts.map((entry, i) => ({
    entry,
    span: spanOf(entry, `shifts/${i}`, report),
    start: entry.rotation && dayOf(entry.rotation.start, `shifts/${i}/rotation/start`, report),
  }))
  const free = holidays.map((holiday, i) => holidayReader(holiday, `holidays/${i}`, { zone, zones, report, problems }))
  const special = exceptions.map((exception, i) => ({
    exception,
    ...rangeOf(exception, `exceptions/${i}`, report),
    hours: exception.hours?.map((entry, at) => spanOf(entry, `exceptions/${i}/hours/${at}`, report)),
  }))
  const plan = (day: number): DayPlan => {
    const holiday = free.find(({ isOn }) => isOn(day))
    const changed = special.filter(({ first, last }) => day >= first && day <= last)
    const own = changed.find((one) => one.hours !== undefined)?.hours
    const onCall = changed.find(({ exception }) => exception.onCall !== undefined)?.exception.onCall
    const isOn = ({ entry }: { readonly entry: WeeklySpan }): boolean => appliesOn(entry, day, holiday !== undefined)
    const usual = weekly === undefined ? (holiday ? [] : ALL_DAY) : weekly.filter(isOn).map(({ span }) => span)
    return {
      open: own ?? usual,
      shifts: duties.filter(isOn).map(({ entry, span, start }) => ({
        ...span,
        name: entry.name,
        onCall: onCall ?? dutyOf(entry, day, start),
      })),
      holiday: holiday?.name,
    }
  }
  return remembering(plan)
}

function remembering(plan: PlanDay): PlanDay {
  const known = new Map<number, DayPlan>()
  return (day) => {
    const found = known.get(day)
    if (found !== undefined) return found
    if (known.size >= MAX_DAYS_KEPT) known.clear()
    const made = plan(day)
    known.set(day, made)
    return made
  }
}

type Report = (path: string, message: string, suggestion: string) => void

function spanOf({ from, to }: DaySpan, path: string, report: Report): Span {
  const [begin, end] = [timeOf(from, `${path}/from`, report), timeOf(to, `${path}/to`, report)]
  if (begin >= DAY_MS) report(`${path}/from`, '"24:00" is not a valid beginning', 'write 00:00')
  return { from: begin, to: end > begin ? end : end + DAY_MS }
}

function timeOf(text: string, path: string, report: Report): number {
  const match = TIME.exec(text)
  if (match === null) {
    report(path, `${quoted(text)} is not a valid time of day`, 'write a time such as 08:30, at most 24:00')
    return 0
  }
  const [, hour = '24', minute = '0'] = match
  return Number(hour) * 3_600_000 + Number(minute) * 60_000
}

function dayOf(text: string, path: string, report: Report): number {
  const [, year, month, day] = DATE.exec(text) ?? []
  const number = dayNumber(Number(year), Number(month), Number(day))
  const civil = civilDay(number)
  if (civil.month === Number(month) && civil.day === Number(day)) return number
  report(path, `${quoted(text)} is not a valid date`, DATE_FORM)
  return 0
}

function rangeOf(
  { date, until }: { readonly date: string; readonly until?: string | undefined },
  path: string,
  report: Report,
): { readonly first: number; readonly last: number } {
  const first = dayOf(date, `${path}/date`, report)
  const last = until === undefined ? first : dayOf(until, `${path}/until`, report)
  if (last < first)
    report(`${path}/until`, `${quoted(until)} is before ${quoted(date)}`, 'write the last date, or omit it')
  return { first, last }
}

interface HolidayContext {
  readonly zone: Zone
  readonly zones: Zones
  readonly report: Report
  readonly problems: Issue[]
}

function holidayReader(
  { name = 'holiday', date, until, rrule }: Holiday,
  path: string,
  { zone, zones, report, problems }: HolidayContext,
): { readonly name: string; readonly isOn: (day: number) => boolean } {
  if ((date === undefined) === (rrule === undefined)) {
    report(path, `has ${date === undefined ? 'neither' : 'both'} date and rrule`, 'write exactly one of them')
  }
  if (date !== undefined) {
    const { first, last } = rangeOf({ date, until }, path, report)
    return { name, isOn: (day) => day >= first && day <= last }
  }
  if (until !== undefined) report(`${path}/until`, 'is not allowed beside rrule', 'write UNTIL in the rule')
  const times = rrule === undefined ? undefined : timesOf(rrule, path, { zone, zones, problems })
  return { name, isOn: (day) => times !== undefined && (times.next(day * DAY_MS - 1) ?? Infinity) < (day + 1) * DAY_MS }
}

function timesOf(
  rrule: string,
  path: string,
  { zone, zones, problems }: Omit<HolidayContext, 'report'>,
): LocalTimes | undefined {
  try {
    return parseRrule(rrule, { start: RULES_BEGIN - zone.stretchAt(RULES_BEGIN).offset, zone, zones, gap: 'shift' })
      .recurrence.times
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'SCHEDULE') throw error
    problems.push(...error.issues.map((issue) => ({ ...issue, path: `/${path}/rrule` })))
    return undefined
  }
}

function appliesOn({ days }: WeeklySpan, day: number, isHoliday: boolean): boolean {
  if (days === undefined) return true
  const name: CalendarDay | undefined = isHoliday ? 'holiday' : DAY_NAMES[weekdayOf(day)]
  return name !== undefined && days.includes(name)
}

const PERIOD_DAYS: Readonly<Record<Rotation['every'], number>> = { day: 1, week: 7 }

function dutyOf({ onCall = [], rotation }: Shift, day: number, start: number | undefined): readonly string[] {
  if (rotation === undefined || start === undefined || onCall.length === 0) return onCall
  const turn = Math.floor((day - start) / PERIOD_DAYS[rotation.every])
  const name = onCall[((turn % onCall.length) + onCall.length) % onCall.length]
  return name === undefined ? [] : [name]
}
