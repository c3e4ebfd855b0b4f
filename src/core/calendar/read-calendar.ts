/** Answers whether a calendar is open, which shift is on duty, and when this changes. */
import { AppError, type Issue } from '#kernel'
import { DAY_MS } from '../schedule/civil.ts'
import { isoWithOffset } from '../schedule/iso-time.ts'
import type { Zone } from '../schedule/schedule.ts'
import { scheduleError } from '../schedule/schedule-problem.ts'
import { Zones } from '../schedule/zone.ts'
import type { CalendarDocument } from './calendar.ts'
import { dayPlans, type PlanDay, type ShiftSpan } from './day-plan.ts'

export interface CalendarState {
  readonly open: boolean
  /** name of the holiday whose local day it is */
  readonly holiday?: string
  /** names of the current shifts, in the order of the document */
  readonly shifts: readonly string[]
  /** names of contacts that are on call, each once */
  readonly onCall: readonly string[]
}

/** Instants are epoch ms. An instant is open if its local time is, also in a repeated hour. */
export interface CalendarReading {
  isOpen(at: number): boolean
  stateAt(at: number): CalendarState
  /** Returns the first instant after `at` at which the calendar opens or closes; undefined: none within two years. */
  nextChange(at: number): number | undefined
  /** Returns the first instant after `at` at which any part of the state changes; undefined: none within two years. */
  nextState(at: number): number | undefined
  /** ISO 8601 with the offset of the zone */
  localText(at: number): string
  /** whether a shift names contacts on call */
  readonly hasDuty: boolean
}

export interface CalendarGap {
  readonly from: number
  readonly until: number
}

const REACH_MS = 731 * DAY_MS
const YEAR_MS = 366 * DAY_MS
const MAX_GAPS = 20

/** Reads a calendar. Throws `SCHEDULE` with all problems: of the zone, dates, times and rules. */
export function readCalendar(document: CalendarDocument, zones = new Zones()): CalendarReading {
  const problems: Issue[] = []
  const zone = zoneOf(document.zone, zones, problems)
  const plan = dayPlans(document, zone ?? zones.parse('UTC'), zones, problems)
  if (zone === undefined || problems.length > 0) throw scheduleError(problems)
  const { shifts = [] } = document
  return new Reading(
    zone,
    plan,
    shifts.some(({ onCall = [] }) => onCall.length > 0),
  )
}

/** Returns spans of the next year in which the calendar is open and lacks a contact on call; at most 20. */
export function handOverGaps(reading: CalendarReading, from: number): readonly CalendarGap[] {
  if (!reading.hasDuty) return []
  const gaps: CalendarGap[] = []
  for (let at = from; at < from + YEAR_MS && gaps.length < MAX_GAPS;) {
    const { open, onCall } = reading.stateAt(at)
    const until = Math.min(reading.nextState(at) ?? Infinity, from + YEAR_MS)
    const last = gaps.at(-1)
    if (open && onCall.length === 0) {
      if (last?.until === at) gaps[gaps.length - 1] = { from: last.from, until }
      else gaps.push({ from: at, until })
    }
    at = until
  }
  return gaps
}

function zoneOf(text: string, zones: Zones, problems: Issue[]): Zone | undefined {
  try {
    return zones.parse(text)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'SCHEDULE') throw error
    problems.push(...error.issues.map((issue) => ({ ...issue, path: '/zone' })))
    return undefined
  }
}

class Reading implements CalendarReading {
  readonly hasDuty: boolean
  readonly #zone: Zone
  readonly #plan: PlanDay

  constructor(zone: Zone, plan: PlanDay, hasDuty: boolean) {
    this.#zone = zone
    this.#plan = plan
    this.hasDuty = hasDuty
  }

  isOpen(at: number): boolean {
    const local = this.#local(at)
    const day = Math.floor(local / DAY_MS)
    return this.#isIn(day, local) || this.#isIn(day - 1, local)
  }

  stateAt(at: number): CalendarState {
    const local = this.#local(at)
    const day = Math.floor(local / DAY_MS)
    const current = [...this.#shiftsAt(day - 1, local), ...this.#shiftsAt(day, local)]
    const { holiday } = this.#plan(day)
    return {
      open: this.isOpen(at),
      ...(holiday !== undefined && { holiday }),
      shifts: [...new Set(current.map(({ name }) => name))],
      onCall: [...new Set(current.flatMap(({ onCall }) => onCall))],
    }
  }

  nextChange(at: number): number | undefined {
    const former = this.isOpen(at)
    return this.#first(at, (instant) => this.isOpen(instant) !== former)
  }

  nextState(at: number): number | undefined {
    const former = JSON.stringify(this.stateAt(at))
    return this.#first(at, (instant) => JSON.stringify(this.stateAt(instant)) !== former)
  }

  localText(at: number): string {
    return isoWithOffset(at, this.#zone.stretchAt(at).offset)
  }

  #first(at: number, isChanged: (instant: number) => boolean): number | undefined {
    for (let next = this.#boundary(at); next <= at + REACH_MS; next = this.#boundary(next))
      if (isChanged(next)) return next
    return undefined
  }

  /** Returns the next instant at which a span or a local day begins or ends, or the clock changes. */
  #boundary(at: number): number {
    const { offset, until } = this.#zone.stretchAt(at)
    const local = at + offset
    const day = Math.floor(local / DAY_MS)
    let next = (day + 1) * DAY_MS
    for (const one of [day - 1, day]) {
      const { open, shifts } = this.#plan(one)
      for (const { from, to } of [...open, ...shifts]) {
        for (const time of [one * DAY_MS + from, one * DAY_MS + to]) if (time > local && time < next) next = time
      }
    }
    return Math.min(next - offset, until)
  }

  #local(at: number): number {
    return at + this.#zone.stretchAt(at).offset
  }

  #isIn(day: number, local: number): boolean {
    const time = local - day * DAY_MS
    return this.#plan(day).open.some(({ from, to }) => time >= from && time < to)
  }

  #shiftsAt(day: number, local: number): readonly ShiftSpan[] {
    const time = local - day * DAY_MS
    return this.#plan(day).shifts.filter(({ from, to }) => time >= from && time < to)
  }
}
