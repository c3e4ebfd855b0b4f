/**
 * Parses recurrence rules (`rrule`; RFC 5545, 3.8.5.3), whose times are all in the wall clock of one zone.
 *
 * COUNT counts local times: an excluded date counts, a time skipped by a gap does not. An UNTIL without time means the
 * end of that day. A DTSTART that its rule does not match is not an occurrence.
 */
import type { Issue } from '#kernel'
import type { DstPolicy } from '../rule/rule.ts'
import { DAY_MS, SECOND_MS } from './civil.ts'
import { type IcalDate, localIn } from './ical-date.ts'
import { type DateLine, readRruleLines } from './rrule-lines.ts'
import { instantsOf } from './dst-policy.ts'
import { rrulePlan, type RrulePlan } from './rrule-plan.ts'
import { completedPlan, dependsOnStart, repeatsInEveryHour, sharedStart } from './rrule-start.ts'
import { MAX_STEPS, ruleSeconds, ruleTimes, type SecondSearch } from './rrule-times.ts'
import type { LocalTimes, Recurrence, Zone } from './schedule.ts'
import { quoted, scheduleError, scheduleProblem } from './schedule-problem.ts'
import type { Zones } from './zone.ts'

export interface RruleContext {
  /** start of the task, epoch ms */
  start: number
  zone: Zone | undefined
  zones: Zones
  gap: DstPolicy['gap']
}

export interface ZonedRecurrence {
  recurrence: Recurrence
  zone: Zone
}

/** Parses a rule. Throws `SCHEDULE` with all problems at once, also for a rule that never runs. */
export function parseRrule(text: string, context: RruleContext): ZonedRecurrence {
  const problems: Issue[] = []
  const report = (problem: Issue): void => void problems.push(problem)
  const lines = readRruleLines(text, context.zones, report)
  const plans = lines.rules.map((rule) => rrulePlan(rule, report)).filter((plan) => plan !== undefined)
  const startZone = lines.start?.zone
  if (startZone && context.zone && startZone.name !== context.zone.name) {
    const message = `timeZone is ${context.zone.name} but DTSTART is in ${startZone.name}`
    report(scheduleProblem('timeZone', message, 'use only one of them, or the same zone in both'))
  }
  if (problems.length > 0) throw scheduleError(problems)
  const zone = context.zone ?? startZone ?? context.zones.parse('UTC')
  const toLocal = (line: DateLine, date: IcalDate): number => localIn(zone, date, line.zone)

  const taskStart = Math.floor(context.start / SECOND_MS) * SECOND_MS
  const startDate = lines.start?.dates[0]
  const start =
    lines.start && startDate ? toLocal(lines.start, startDate) : taskStart + zone.stretchAt(taskStart).offset
  const rules = plans.map((plan) => prepare(plan, start, startDate !== undefined, zone, context.gap, text))
  const added = lines.added.flatMap((line) => line.dates.map((date) => toLocal(line, date)))
  const removed = lines.removed.flatMap((line) => line.dates.map((date) => ({ ...date, local: toLocal(line, date) })))
  const times = mergedTimes(
    rules.map((rule) => rule.times),
    added,
    removed,
  )
  const [only] = rules
  const recurrence: Recurrence = {
    key: `rrule ${JSON.stringify([rules.map((rule) => rule.key), added, removed])}`,
    times,
    anyStart: startDate !== undefined || (taskStart >= 0 && !plans.some(dependsOnStart)),
    everyHour: rules.length > 0 && rules.every((rule) => rule.everyHour),
    from: startDate ? undefined : taskStart,
    until: rules.length === 1 && added.length === 0 ? only?.until : undefined,
  }
  return { recurrence, zone }
}

interface PreparedRule {
  key: unknown
  times: LocalTimes
  everyHour: boolean
  until: number | undefined
}

function prepare(
  plan: RrulePlan,
  local: number,
  hasStart: boolean,
  zone: Zone,
  gap: DstPolicy['gap'],
  text: string,
): PreparedRule {
  const localStart = Math.floor(local / SECOND_MS)
  const complete = completedPlan(plan, localStart)
  const start = hasStart ? localStart : sharedStart(plan, localStart)
  const search = ruleSeconds(complete, start)
  if (search(start, { left: MAX_STEPS }) === undefined) {
    const message = `${quoted(text)} never runs, or too rarely to be found in ${MAX_STEPS} steps`
    throw scheduleError([scheduleProblem('rrule', message, 'use days and times that its periods reach')])
  }
  const isThere = (second: number): boolean =>
    gap !== 'skip' || instantsOf(second * SECOND_MS, zone, { gap }).length > 0
  const last =
    plan.count === undefined ? untilSecond(plan.until, zone) : countedSecond(search, start, plan.count, isThere)
  return {
    key: [complete, start],
    times: ruleTimes(search, last),
    everyHour: repeatsInEveryHour(complete),
    until: plan.until?.kind === 'utc' ? plan.until.local : undefined,
  }
}

function untilSecond(until: IcalDate | undefined, zone: Zone): number {
  if (until === undefined) return Infinity
  if (until.kind === 'date') return Math.floor((until.local + DAY_MS - 1) / SECOND_MS)
  if (until.kind === 'local') return Math.floor(until.local / SECOND_MS)
  // in a repeated hour, later wall clock times have already occurred before
  const { from, before, offset } = zone.stretchAt(until.local)
  return Math.floor(Math.max(until.local + offset, from + before - 1) / SECOND_MS)
}

/** Returns the second of the last of `count` occurrences, which are counted only once; then used like UNTIL. */
function countedSecond(
  search: SecondSearch,
  start: number,
  count: number,
  isThere: (second: number) => boolean,
): number {
  const steps = { left: MAX_STEPS + count }
  let last = start - 1
  for (let counted = 0; counted < count;) {
    const next = search(last + 1, steps)
    if (next === undefined) {
      if (steps.left > 0) break
      const message = `COUNT=${count} takes more than ${MAX_STEPS} steps to count`
      throw scheduleError([scheduleProblem('rrule', message, 'use UNTIL instead')])
    }
    last = next
    if (isThere(next)) counted++
  }
  return last
}

/** Merges all sources and added times, and removes the excluded times. An excluded date removes its whole day. */
function mergedTimes(
  sources: readonly LocalTimes[],
  added: readonly number[],
  removed: readonly IcalDate[],
): LocalTimes {
  const [only] = sources
  if (only && sources.length === 1 && added.length === 0 && removed.length === 0) return only
  const extra = added.toSorted((a, b) => a - b)
  const removedTimes = new Set(removed.filter(({ kind }) => kind !== 'date').map(({ local }) => local))
  const removedDays = new Set(
    removed.filter(({ kind }) => kind === 'date').map(({ local }) => Math.floor(local / DAY_MS)),
  )
  const earliest = (after: number): number | null => {
    let least = extra.find((time) => time > after) ?? null
    for (const source of sources) {
      const time = source.next(after)
      if (time !== null && (least === null || time < least)) least = time
    }
    return least
  }
  return {
    next(after) {
      let time = earliest(after)
      while (time !== null) {
        const day = Math.floor(time / DAY_MS)
        // skips a removed day at once, since it may contain a time in each of its seconds
        if (removedDays.has(day)) time = earliest((day + 1) * DAY_MS - 1)
        else if (removedTimes.has(time)) time = earliest(time)
        else return time
      }
      return null
    },
  }
}
