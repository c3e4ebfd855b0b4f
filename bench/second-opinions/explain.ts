/** Why two lists of occurrences differ: by which declared policy for the days of changing clocks, if by any. */
import { DateTime } from 'luxon'
import { nextRuns, type Schedule } from '../../src/index.ts'

export interface Difference {
  what: string
  /** undefined when no policy accounts for it */
  explanation: string | undefined
}

const DAY_MS = 86_400_000
const POLICY_NAMES = [
  'gap shift, overlap first',
  'gap shift, overlap second',
  'gap shift, overlap both',
  'gap skip, overlap first',
  'gap skip, overlap second',
  'gap skip, overlap both',
]

/** What was asked. */
export interface Question {
  expression: string
  from: number
  zone: string
}

/**
 * Compares day by day. `schedules`: this library's default, then each of the six policies.
 */
export function explainDifference(
  schedules: readonly Schedule[],
  theirs: readonly number[],
  { expression, from, zone }: Question,
): Difference[] {
  const last = theirs.at(-1)
  if (last === undefined) return []
  const days = new Set<number>()
  const ours = schedules.map((schedule) => {
    const found: number[] = []
    for (let at = schedule.next(from); at !== null && at <= last; at = schedule.next(at)) found.push(at)
    return byDay(found, zone, days)
  })
  const theirDays = byDay(theirs, zone, days)
  const [usual] = ours
  const differences: Difference[] = []
  const elapsed = elapsedTimes(expression, from, zone, theirs.length)
  if (elapsed !== undefined && text(elapsed) === text(theirs)) {
    if (text(ours.flatMap((one, i) => (i === 0 ? [...one.values()].flat() : []))) === text(theirs)) return []
    return [
      { what: 'from the change of the clocks on', explanation: 'counts elapsed time, ours the time on the clock' },
    ]
  }
  for (const day of [...days].toSorted((a, b) => a - b)) {
    const wanted = text(theirDays.get(day))
    if (wanted === text(usual?.get(day))) continue
    // The list ends in the middle of its last day.
    if (day >= localDay(last, zone) && text(usual?.get(day)).startsWith(wanted)) continue
    const fitting = POLICY_NAMES.filter((_, i) => text(ours[i + 1]?.get(day)) === wanted)
    const [policy] = fitting
    differences.push({
      what: `${new Date(day).toISOString().slice(0, 10)}: ours ${text(usual?.get(day))}, theirs ${wanted}`,
      explanation:
        policy === undefined
          ? (atTheChange(usual?.get(day) ?? [], theirDays.get(day) ?? [], day, zone) ??
            amongDaysThatExist(expression, day, zone))
          : className(policy, day, zone),
    })
  }
  return differences
}

/** A rule below DAILY that steps through instants, not through times on the clock. */
function elapsedTimes(expression: string, from: number, zone: string, count: number): number[] | undefined {
  const match = /^FREQ=(MINUTELY|HOURLY)(?:;INTERVAL=(\d+))?(?:;BYMINUTE=(\d+))?$/.exec(expression)
  if (!match) return undefined
  const step = Number(match[2] ?? 1) * (match[1] === 'HOURLY' ? 60 : 1) * 60_000
  const minute = match[3] === undefined ? undefined : Number(match[3])
  const found: number[] = []
  for (let at = from; found.length < count; at += step) {
    const local = DateTime.fromMillis(at, { zone })
    const placed = minute === undefined ? at : at + (minute - local.minute) * 60_000
    if (placed > from) found.push(placed)
  }
  return found
}

/** Occurrences in a gap may also be put at the very moment of the change. */
function atTheChange(
  ours: readonly number[],
  theirs: readonly number[],
  day: number,
  zone: string,
): string | undefined {
  const gap = changesAround(day, zone).find(({ kind }) => kind === 'gap')
  if (gap === undefined) return undefined
  const moment = Date.parse(gap.at)
  const rest = theirs.filter((at) => at !== moment && !ours.includes(at))
  return theirs.includes(moment) && rest.length === 0
    ? 'puts what falls into a gap at the moment of the change'
    : undefined
}

/** Samoa had no 30 December 2011. */
function amongDaysThatExist(expression: string, day: number, zone: string): string | undefined {
  const losesDay = changesAround(day, zone).some(
    ({ offsetBefore, offsetAfter }) =>
      Math.abs(Number.parseInt(offsetAfter, 10) - Number.parseInt(offsetBefore, 10)) >= 24,
  )
  return losesDay && expression.includes('BYSETPOS')
    ? 'BYSETPOS picks among the days that the zone had, ours among those of the calendar'
    : undefined
}

function changesAround(day: number, zone: string) {
  return nextRuns('* * * * * *', { from: day - DAY_MS, zone, count: 1 }).changes.filter(
    (change) => Math.abs(Date.parse(`${change.day}T00:00:00Z`) - day) <= DAY_MS,
  )
}

/** Only the half of the policy that the day asks for. */
function className(policy: string, day: number, zone: string): string {
  const kinds = changesAround(day, zone)
  const [gap = '', overlap = ''] = policy.split(', ')
  if (kinds.some(({ kind }) => kind === 'gap')) return `as our ${gap}`
  if (kinds.some(({ kind }) => kind === 'overlap')) return `as our ${overlap}`
  return policy
}

function byDay(instants: readonly number[], zone: string, days: Set<number>): Map<number, number[]> {
  const found = new Map<number, number[]>()
  for (const instant of instants) {
    const day = localDay(instant, zone)
    days.add(day)
    const list = found.get(day)
    if (list) list.push(instant)
    else found.set(day, [instant])
  }
  return found
}

function localDay(instant: number, zone: string): number {
  const offset = DateTime.fromMillis(instant, { zone }).offset * 60_000
  return Math.floor((instant + offset) / DAY_MS) * DAY_MS
}

function text(instants: readonly number[] | undefined): string {
  return (instants ?? []).map((instant) => new Date(instant).toISOString().slice(0, 19)).join(' ')
}
