/** Parses the schedule of task settings. */
import { AppError, type Issue } from '#kernel'
import type { DstPolicy } from '../rule/rule.ts'
import { parseCron } from './parse-cron.ts'
import { parseRrule, type ZonedRecurrence } from './parse-rrule.ts'
import { fixedDelay, fixedRate } from './periodic.ts'
import type { Schedule, ScheduleSettings, Zone } from './schedule.ts'
import { quoted, scheduleError, scheduleProblem } from './schedule-problem.ts'
import { wallClockSchedule } from './wall-clock-schedule.ts'
import { Zones } from './zone.ts'

const MAX_FREQUENCY_MS = 366 * 86_400_000

/**
 * Throws `SCHEDULE` with all problems at once. `dst.gap` defaults to `shift`. `dst.overlap` defaults to `first`, but to
 * `both` for an expression that runs in every hour: "every 15 minutes" must not pause for the repeated hour.
 * `zones`: share one object among many schedules to cache zone data.
 */
export function parseSchedule(settings: ScheduleSettings, zones = new Zones()): Schedule {
  const problems: Issue[] = []
  const schedule = read(settings, zones, problems)
  if (schedule === undefined || problems.length > 0) throw scheduleError(problems)
  return schedule
}

function read(settings: ScheduleSettings, zones: Zones, problems: Issue[]): Schedule | undefined {
  if (!Number.isFinite(settings.start)) {
    problems.push(scheduleProblem('start', `${quoted(settings.start)} is not an instant`, 'use epoch milliseconds'))
  }
  checkDst(settings.dst, problems)
  const zone =
    settings.timeZone === undefined ? undefined : collect(problems, () => zones.parse(settings.timeZone ?? ''))
  switch (settings.type) {
    case 'onetime':
      return once(settings.start)
    case 'reactive':
      return never()
    case 'periodic':
      return readPeriodic(settings, problems)
    case 'scheduled':
      return readScheduled(settings, zone, zones, problems)
    default: {
      const { type } = settings satisfies never as { type: unknown }
      problems.push(
        scheduleProblem(
          'type',
          `${quoted(type)} is not a valid clock type`,
          'use onetime, periodic, scheduled or reactive',
        ),
      )
      return undefined
    }
  }
}

function readPeriodic(settings: ScheduleSettings & { type: 'periodic' }, problems: Issue[]): Schedule | undefined {
  const { frequency, start } = settings
  if (!Number.isInteger(frequency) || frequency < 1 || frequency > MAX_FREQUENCY_MS) {
    const suggestion = `use whole milliseconds from 1 to ${MAX_FREQUENCY_MS} (a year)`
    problems.push(scheduleProblem('frequency', `${quoted(frequency)} is not a valid frequency`, suggestion))
    return undefined
  }
  return settings.pollingFixedRate === false ? fixedDelay(frequency, start) : fixedRate(frequency, start)
}

function readScheduled(
  settings: ScheduleSettings & { type: 'scheduled' },
  ownZone: Zone | undefined,
  zones: Zones,
  problems: Issue[],
): Schedule | undefined {
  const { cron, rrule } = settings as { cron?: string; rrule?: string }
  if ((cron === undefined) === (rrule === undefined)) {
    const message = cron === undefined ? 'a scheduled task has neither cron nor rrule' : 'cron and rrule are both set'
    problems.push(scheduleProblem('cron', message, 'set exactly one of them'))
    return undefined
  }
  const read = (): ZonedRecurrence => {
    if (cron !== undefined) return { recurrence: parseCron(cron), zone: ownZone ?? zones.parse('UTC') }
    return parseRrule(rrule ?? '', { start: settings.start, zone: ownZone, zones, gap: settings.dst?.gap })
  }
  const found = collect(problems, read)
  if (found === undefined) return undefined
  const { gap = 'shift', overlap = found.recurrence.everyHour ? 'both' : 'first' } = settings.dst ?? {}
  return wallClockSchedule(found.recurrence, found.zone, { gap, overlap })
}

function checkDst(dst: DstPolicy | undefined, problems: Issue[]): void {
  const { gap, overlap } = dst ?? {}
  if (gap !== undefined && gap !== 'shift' && gap !== 'skip') {
    problems.push(scheduleProblem('dst/gap', `${quoted(gap)} is not a valid policy`, 'use shift or skip'))
  }
  if (overlap !== undefined && overlap !== 'first' && overlap !== 'second' && overlap !== 'both') {
    problems.push(
      scheduleProblem('dst/overlap', `${quoted(overlap)} is not a valid policy`, 'use first, second or both'),
    )
  }
}

function collect<T>(problems: Issue[], part: () => T): T | undefined {
  try {
    return part()
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'SCHEDULE') throw error
    problems.push(...error.issues)
    return undefined
  }
}

function once(start: number): Schedule {
  return {
    key: `onetime ${start}`,
    next: (after) => (after < start ? start : null),
    first: (from) => (from <= start ? start : null),
  }
}

/** Returns the schedule of a task without a clock, which only data and pushed states run. */
function never(): Schedule {
  return { key: 'reactive', next: () => null, first: () => null }
}
