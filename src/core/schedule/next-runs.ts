/** Previews an expression: its next runs, and the effects of clock changes and of a downtime. */
import { AppError } from '#kernel'
import type { DstPolicy } from '../rule/rule.ts'
import { expressionKind, type ExpressionKind } from './expression.ts'
import { isoLocal, isoWithOffset, offsetText } from './iso-time.ts'
import { missed } from './misfire.ts'
import { cronWarning } from './parse-cron.ts'
import { parseSchedule } from './parse-schedule.ts'
import { clockChanges, instantsOf, type ClockChange } from './dst-policy.ts'
import { firstFrom, type Schedule, type WallClock } from './schedule.ts'
import { quoted } from './schedule-problem.ts'

export interface NextRunsOptions {
  /** epoch ms, inclusive. A rule without DTSTART starts at this time, or at an earlier downtime */
  from: number
  zone?: string
  /** 1 to 10,000, default 10 */
  count?: number
  dst?: DstPolicy
  /** downtime to simulate, epoch ms: `from` inclusive, `to` exclusive */
  down?: { from: number; to: number; maxLatenessMs?: number; cap?: number }
}

/** `gap-shifted`: its local time does not exist that day; `overlap-...`: it occurs twice. */
export type RunNote = 'gap-shifted' | 'overlap-first' | 'overlap-second'

export interface NextRun {
  at: number
  scheduledAt: string
  note?: RunNote
}

export interface TouchedTime {
  local: string
  /** `merged`: shifted onto another run */
  effect: 'shifted' | 'merged' | 'skipped' | 'first' | 'second' | 'both'
  /** ISO 8601 with offset; empty for `skipped` */
  runsAt: readonly string[]
}

export interface ScheduleChange {
  /** such as `2026-03-29` */
  day: string
  kind: 'gap' | 'overlap'
  at: string
  offsetBefore: string
  offsetAfter: string
  touched: readonly TouchedTime[]
  /** total number, counted up to 1000 */
  count: number
}

export interface DowntimeRuns {
  run: readonly string[]
  skipped: number
  isExact: boolean
}

export interface NextRuns {
  kind: ExpressionKind
  zone: string
  runs: readonly NextRun[]
  /** clock changes within two years that affect the schedule */
  changes: readonly ScheduleChange[]
  /** days of clock changes within two years that do not affect the schedule */
  untouched: readonly string[]
  /** policy in effect, including defaults */
  dst: Required<DstPolicy>
  /** explains semantics that differ between cron dialects: both day fields of a unix expression are set */
  warning?: string
  downtime?: Readonly<Record<'skip' | 'once' | 'all', DowntimeRuns>>
}

const MAX_RUNS = 10_000
const TWO_YEARS_MS = 731 * 86_400_000
const MAX_TOUCHED_SHOWN = 5
const MAX_TOUCHED_COUNTED = 1000

/** Previews an expression. Throws `SCHEDULE` for an invalid expression or zone, `TOO_LARGE` for too many runs. */
export function nextRuns(expression: string, options: NextRunsOptions): NextRuns {
  const { from, zone, count = 10, dst, down } = options
  if (!Number.isInteger(count) || count < 1 || count > MAX_RUNS) {
    throw new AppError('TOO_LARGE', `count: ${quoted(count)} is out of range; use 1 to ${MAX_RUNS}`)
  }
  const kind = expressionKind(expression)
  const common = {
    start: Math.min(from, down?.from ?? from),
    ...(zone === undefined ? {} : { timeZone: zone }),
    ...(dst === undefined ? {} : { dst }),
  }
  const schedule = parseSchedule(
    kind === 'cron'
      ? { type: 'scheduled', cron: expression, ...common }
      : { type: 'scheduled', rrule: expression, ...common },
  )
  const { wallClock } = schedule
  if (wallClock === undefined) throw new AppError('SCHEDULE', `${quoted(expression)} has no wall clock`)
  const runs: NextRun[] = []
  const first = firstFrom(schedule, from)
  for (let at = first; at !== null && runs.length < count; at = schedule.next(at)) {
    runs.push(describeRun(at, wallClock))
  }
  const all = clockChanges(wallClock.zone, from, from + TWO_YEARS_MS).map((change) =>
    describeChange(change, schedule, wallClock),
  )
  const changes = all.filter((change) => change.count > 0)
  const untouched = all.filter((change) => change.count === 0).map(({ day }) => day)
  const warning = kind === 'cron' ? cronWarning(expression) : undefined
  const result = {
    kind,
    zone: wallClock.zone.name,
    dst: wallClock.dst,
    ...(warning && { warning: `${warning.message}; ${warning.suggestion}` }),
    runs,
    changes,
    untouched,
  }
  return down === undefined ? result : { ...result, downtime: describeDowntime(schedule, wallClock, down) }
}

function iso(instant: number, { zone }: WallClock): string {
  return isoWithOffset(instant, zone.stretchAt(instant).offset)
}

function describeRun(at: number, wallClock: WallClock): NextRun {
  const run = { at, scheduledAt: iso(at, wallClock) }
  const note = noteOf(at, wallClock)
  return note === undefined ? run : { ...run, note }
}

function noteOf(at: number, { zone, times }: WallClock): RunNote | undefined {
  const { from, until, offset, before, after } = zone.stretchAt(at)
  if (before > offset && at < from + before - offset) return 'overlap-second'
  if (after < offset && at >= until + after - offset) return 'overlap-first'
  const isAfterGap = before < offset && at < from + offset - before
  return isAfterGap && times.next(at + offset - 1) !== at + offset ? 'gap-shifted' : undefined
}

function describeChange(change: ClockChange, schedule: Schedule, wallClock: WallClock): ScheduleChange {
  const { zone, times, dst } = wallClock
  const touched: TouchedTime[] = []
  let count = 0
  let local = times.next(change.from - 1)
  while (local !== null && local < change.until && count < MAX_TOUCHED_COUNTED) {
    const instants = instantsOf(local, zone, dst).filter((instant) => schedule.next(instant - 1) === instant)
    // A schedule that has ended or not begun is unaffected, although its local times continue.
    if (instants.length > 0 || (change.kind === 'gap' && dst.gap === 'skip')) {
      count++
      if (touched.length < MAX_TOUCHED_SHOWN) {
        const runsAt = instants.map((instant) => iso(instant, wallClock))
        touched.push({ local: isoLocal(local), effect: effectOf(change, local, wallClock), runsAt })
      }
    }
    local = times.next(local)
  }
  return {
    day: isoLocal(change.from).slice(0, 10),
    kind: change.kind,
    at: iso(change.at, wallClock),
    offsetBefore: offsetText(change.offsetBefore),
    offsetAfter: offsetText(change.offsetAfter),
    touched,
    count,
  }
}

function effectOf(change: ClockChange, local: number, { times, dst }: WallClock): TouchedTime['effect'] {
  if (change.kind === 'overlap') return dst.overlap
  if (dst.gap === 'skip') return 'skipped'
  const shifted = local - change.offsetBefore + change.offsetAfter
  return times.next(shifted - 1) === shifted ? 'merged' : 'shifted'
}

function describeDowntime(
  schedule: Schedule,
  wallClock: WallClock,
  { from, to, ...limits }: NonNullable<NextRunsOptions['down']>,
): NonNullable<NextRuns['downtime']> {
  const under = (misfire: 'skip' | 'once' | 'all'): DowntimeRuns => {
    const { run, skipped, isExact } = missed(schedule, from - 1, to, { misfire, ...limits })
    return { run: run.map((at) => iso(at, wallClock)), skipped, isExact }
  }
  return { skip: under('skip'), once: under('once'), all: under('all') }
}
