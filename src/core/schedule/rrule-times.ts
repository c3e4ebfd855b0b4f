/**
 * Computes local times of one rule from any point, without iterating from DTSTART.
 *
 * Invariants:
 * RRULE-1 a result depends only on the rule and the point of the query.
 * RRULE-2 periods before the point are skipped by arithmetic; within a day, times that BY parts forbid are skipped with
 *   tables.
 * RRULE-3 a result takes at most MAX_STEPS steps; a rule too sparse for that counts as exhausted.
 */
import { civilDay, DAY_SECONDS, dayNumber, SECOND_MS, weekdayOf } from './civil.ts'
import { ICAL_LAST_YEAR } from './ical-date.ts'
import { daySearch, NO_DAY } from './rrule-days.ts'
import type { Frequency, RrulePlan } from './rrule-plan.ts'
import { type ClockFields, nthTimeOfDay, timeOfDay, timesInDay } from './time-of-day.ts'
import type { LocalTimes } from './schedule.ts'

export const MAX_STEPS = 20_000

/** Finds the first second of the wall clock at or after `from`; undefined when exhausted or out of steps. */
export type SecondSearch = (from: number, steps: Steps) => number | undefined

export interface Steps {
  left: number
}

const END_DAY = dayNumber(ICAL_LAST_YEAR + 1, 1, 1)
const END = END_DAY * DAY_SECONDS
const UNIT_SECONDS: Readonly<Record<string, number>> = { HOURLY: 3600, MINUTELY: 60, SECONDLY: 1 }

/** Creates the search for a complete plan. `start`: second of DTSTART. */
export function ruleSeconds(plan: RrulePlan, start: number): SecondSearch {
  const unit = UNIT_SECONDS[plan.frequency]
  const search = unit === undefined ? byDays(plan, start) : byUnits(plan, start, unit)
  return (from, steps) => {
    const found = search(Math.max(from, start), steps)
    return found === undefined || found >= END ? undefined : found
  }
}

export function ruleTimes(search: SecondSearch, lastSecond: number): LocalTimes {
  return {
    next(after) {
      const from = Math.floor(after / SECOND_MS) + 1
      if (from > lastSecond) return null
      const found = search(from, { left: MAX_STEPS })
      return found === undefined || found > lastSecond ? null : found * SECOND_MS
    },
  }
}

function byDays(plan: RrulePlan, start: number): SecondSearch {
  const startDay = Math.floor(start / DAY_SECONDS)
  const periods = dayPeriods(plan.frequency, plan.interval, plan.weekStart, startDay)
  const search = daySearch(plan)
  const time = timeOfDay(plan)
  const firstTime = time(0)
  const setOf = positionsOf(plan, periods.span, search)
  return (from, steps) => {
    const today = Math.floor(from / DAY_SECONDS)
    for (let index = periods.indexOf(today); steps.left > 0; steps.left--) {
      const span = periods.span(index)
      const isChosen = plan.positions.length > 0
      let day = search(isChosen ? span.from : Math.max(span.from, today), END_DAY)
      if (!isChosen && day === today && day < span.until) {
        const later = time(from - today * DAY_SECONDS)
        if (later >= 0) return today * DAY_SECONDS + later
        day = search(today + 1, END_DAY)
      }
      if (day === NO_DAY) return undefined
      if (day < span.until) {
        if (!isChosen) return day * DAY_SECONDS + firstTime
        const found = setOf(index).find((second) => second >= from)
        if (found !== undefined) return found
      }
      index = Math.max(index + 1, day < span.until ? 0 : periods.indexOf(day))
    }
    return undefined
  }
}

/** Returns the times that BYSETPOS selects from a period; the last period is cached, since queries come in order. */
function positionsOf(
  plan: RrulePlan,
  span: (index: number) => { from: number; until: number },
  search: (from: number, until: number) => number,
): (index: number) => readonly number[] {
  let known = -1
  let knownSet: readonly number[] = []
  const perDay = timesInDay(plan)
  return (index) => {
    if (index === known) return knownSet
    const { from, until } = span(index)
    const days: number[] = []
    for (let day = search(from, until); day !== NO_DAY; day = search(day + 1, until)) days.push(day)
    known = index
    knownSet = picks(plan.positions, days.length * perDay).map((at) => {
      const day = days[Math.floor(at / perDay)] ?? 0
      return day * DAY_SECONDS + nthTimeOfDay(plan, at % perDay)
    })
    return knownSet
  }
}

function picks(positions: readonly number[], size: number): number[] {
  const indexes = positions.map((position) => (position > 0 ? position - 1 : size + position))
  return [...new Set(indexes.filter((index) => index >= 0 && index < size))].toSorted((a, b) => a - b)
}

function byUnits(plan: RrulePlan, start: number, unit: number): SecondSearch {
  const stride = plan.interval * unit
  const phase = Math.floor(start / unit) * unit
  const { starts, inner } = splitTimes(plan, unit)
  if (!meets(starts, stride, phase)) return () => undefined
  const nextStart = timeOfDay(starts)
  const chosen = innerSeconds(inner, plan.positions)
  const search = daySearch(plan)
  const align = (second: number): number => phase + Math.ceil((second - phase) / stride) * stride
  return (from, steps) => {
    for (let at = align(Math.floor(from / unit) * unit); at < END;) {
      if (steps.left-- <= 0) return undefined
      const day = Math.floor(at / DAY_SECONDS)
      const allowedDay = search(day, END_DAY)
      if (allowedDay === NO_DAY) return undefined
      const allowed = allowedDay === day ? nextStart(at - day * DAY_SECONDS) : nextStart(0)
      const wanted = allowed < 0 ? (day + 1) * DAY_SECONDS : allowedDay * DAY_SECONDS + allowed
      if (wanted !== at) {
        at = align(wanted)
        continue
      }
      const found = chosen.find((second) => at + second >= from)
      if (found !== undefined) return at + found
      at += stride
    }
    return undefined
  }
}

function splitTimes(plan: RrulePlan, unit: number): { starts: ClockFields; inner: ClockFields } {
  const { hours, minutes, seconds } = plan
  const zero = [0]
  return {
    starts: { hours, minutes: unit <= 60 ? minutes : zero, seconds: unit === 1 ? seconds : zero },
    inner: { hours: zero, minutes: unit <= 60 ? zero : minutes, seconds: unit === 1 ? zero : seconds },
  }
}

function innerSeconds(inner: ClockFields, positions: readonly number[]): readonly number[] {
  const size = timesInDay(inner)
  const indexes = positions.length > 0 ? picks(positions, size) : Array.from({ length: size }, (_, index) => index)
  return indexes.map((index) => nthTimeOfDay(inner, index))
}

/** Whether steps of `stride` from the phase reach an allowed start: some start must have the same remainder. */
function meets(starts: ClockFields, stride: number, phase: number): boolean {
  const divisor = greatestCommonDivisor(stride, DAY_SECONDS)
  const size = timesInDay(starts)
  for (let index = 0; index < size; index++) {
    if ((nthTimeOfDay(starts, index) - phase) % divisor === 0) return true
  }
  return false
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b)
}

interface Periods {
  /** index of the period that contains the day, or of the last period before it */
  indexOf(day: number): number
  span(index: number): { from: number; until: number }
}

function dayPeriods(frequency: Frequency, interval: number, weekStart: number, startDay: number): Periods {
  const start = civilDay(startDay)
  if (frequency === 'YEARLY' || frequency === 'MONTHLY') {
    const size = frequency === 'YEARLY' ? 12 : 1
    const first = frequency === 'YEARLY' ? start.year * 12 : start.year * 12 + start.month - 1
    return {
      indexOf: (day) => {
        const { year, month } = civilDay(day)
        return Math.floor((year * 12 + month - 1 - first) / (size * interval))
      },
      span: (index) => {
        const months = first + index * size * interval
        return { from: dayNumber(0, months + 1, 1), until: dayNumber(0, months + size + 1, 1) }
      },
    }
  }
  const size = frequency === 'WEEKLY' ? 7 : 1
  const first = frequency === 'WEEKLY' ? startDay - ((weekdayOf(startDay) - weekStart + 7) % 7) : startDay
  return {
    indexOf: (day) => Math.floor((day - first) / (size * interval)),
    span: (index) => ({ from: first + index * size * interval, until: first + index * size * interval + size }),
  }
}
