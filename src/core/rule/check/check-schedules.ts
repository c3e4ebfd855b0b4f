/** Checks cron, rrule and time zones by parsing them like a start does. */
import { AppError, at, type Issue } from '#kernel'
import { clockOf } from '../../schedule/expression.ts'
import { cronWarning } from '../../schedule/parse-cron.ts'
import { parseSchedule } from '../../schedule/parse-schedule.ts'
import type { ScheduleSettings } from '../../schedule/schedule.ts'
import { Zones } from '../../schedule/zone.ts'
import type { TaskSettings } from '../rule.ts'
import type { Report } from './report.ts'
import type { RuleIndex } from './rule-index.ts'

export function checkTaskSchedule(settings: TaskSettings, path: string, report: Report): void {
  const { cron, rrule, timeZone, dst } = settings
  if (cron === undefined && rrule === undefined && timeZone === undefined) return
  const zone = timeZone === undefined ? {} : { timeZone }
  const common = { start: 0, ...zone, ...(dst !== undefined && { dst }) }
  const clock: ScheduleSettings =
    cron !== undefined
      ? { ...common, type: 'scheduled', cron }
      : rrule !== undefined
        ? { ...common, type: 'scheduled', rrule }
        : { ...common, type: 'reactive' }
  for (const issue of problemsOf(clock)) {
    if (issue.path.startsWith('/dst')) continue
    report.error('SCHEDULE', `${path}${issue.path}`, issue.message, issue.suggestion)
  }
  if (cron !== undefined) warn(cron, `${path}/cron`, report)
}

export function checkNodeSchedules(index: RuleIndex, report: Report): void {
  for (const entry of index.plugNodes) {
    const { schedule } = entry.node
    if (typeof schedule !== 'string') continue
    for (const { message, suggestion } of problemsOf({ start: 0, ...clockOf(schedule) })) {
      report.error('SCHEDULE', at(entry.path, 'schedule'), message, suggestion)
    }
    warn(schedule, at(entry.path, 'schedule'), report)
  }
}

function warn(expression: string, path: string, report: Report): void {
  const warning = cronWarning(expression)
  if (warning) report.warning('SCHEDULE', path, warning.message, warning.suggestion)
}

function problemsOf(clock: ScheduleSettings): readonly Issue[] {
  try {
    parseSchedule(clock, new Zones())
    return []
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return error.issues
  }
}
