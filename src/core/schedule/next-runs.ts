/** What an expression will do: its next runs, what the changes of the clocks do to it, and what a downtime would. */
import { AppError } from '#kernel'
import type { DstPolicy } from '../rule/rule.ts'
import { expressionKind, type ExpressionKind } from './expression.ts'
import { isoLocal, isoWithOffset, offsetText } from './iso-time.ts'
import { missed } from './misfire.ts'
import { cronWarning } from './parse-cron.ts'
import { parseSchedule } from './parse-schedule.ts'
import { clockChanges, placeLocal, type ClockChange } from './place-local.ts'
import { firstFrom, type Schedule, type WallClock } from './schedule.ts'
import { quoted } from './schedule-problem.ts'

export interface NextRunsOptions {
  /** epoch ms; a run at that very instant is one of them. A rule without DTSTART starts there, and runs after it, or at the downtime when that is earlier */
  from: number
  /** IANA name or offset, default UTC */
  zone?: string
  /** 1 to 10,000, default 10 */
  count?: number
  dst?: DstPolicy
  /** a downtime to try, epoch ms: from `from` up to, not including, `to` */
  down?: { from: number; to: number; maxLatenessMs?: number; cap?: number }
}

/** `gap-shifted`: its local time does not exist that day; `overlap-...`: its local time comes twice, this is the first or second. */
export type RunNote = 'gap-shifted' | 'overlap-first' | 'overlap-second'

export interface NextRun {
  /** epoch ms */
  at: number
  /** ISO 8601 with offset */
  scheduledAt: string
  note?: RunNote
}

/** A local time of the schedule that a change of the clocks touches. */
export interface TouchedTime {
  /** ISO 8601 without offset */
  local: string
  /** `merged`: shifted to where another run is anyway */
  effect: 'shifted' | 'merged' | 'skipped' | 'first' | 'second' | 'both'
  /** ISO 8601 with offset; none for `skipped` */
  runsAt: readonly string[]
}

export interface ScheduleChange {
  /** the day, `2026-03-29` */
  day: string
  kind: 'gap' | 'overlap'
  /** ISO 8601 with the new offset */
  at: string
  offsetBefore: string
  offsetAfter: string
  /** the first few of them */
  touched: readonly TouchedTime[]
  /** how many there are, counted to 1000 */
  count: number
}

export interface DowntimeRuns {
  run: readonly string[]
  skipped: number
  /** false: `skipped` is a lower bound */
  isExact: boolean
}

export interface NextRuns {
  kind: ExpressionKind
  /** the zone's name */
  zone: string
  runs: readonly NextRun[]
  /** gap and overlap days within two years that touch the schedule */
  changes: readonly ScheduleChange[]
  /** the days within two years on which the clocks change and no run is touched */
  untouched: readonly string[]
  /** what became of the policy where it was left open */
  dst: Required<DstPolicy>
  /** which rule applies where crons differ: both day fields of a unix expression */
  warning?: string
  /** what happens when the process is down, for each misfire policy */
  downtime?: Readonly<Record<'skip' | 'once' | 'all', DowntimeRuns>>
}

const MAX_RUNS = 10_000
const TWO_YEARS_MS = 731 * 86_400_000
const MAX_TOUCHED_SHOWN = 5
const MAX_TOUCHED_COUNTED = 1000

/** Throws `SCHEDULE` for an expression or zone that cannot be used, `TOO_LARGE` for too many runs. */
export function nextRuns(expression: string, options: NextRunsOptions): NextRuns {
  const { from, zone, count = 10, dst, down } = options
  if (!Number.isInteger(count) || count < 1 || count > MAX_RUNS) {
    throw new AppError('TOO_LARGE', `${quoted(count)} runs cannot be listed; ask for 1 to ${MAX_RUNS}`)
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
    const instants = placeLocal(local, zone, dst).filter((instant) => schedule.next(instant - 1) === instant)
    // A schedule that ended or had not begun is not touched, though its times go on.
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
