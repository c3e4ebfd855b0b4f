/** Checks task settings, individually and in combination. */
import { adding, at, ownValue, removing, shown } from '#kernel'
import type { TaskSettings, TaskType } from '../rule.ts'
import { checkFrequency } from './check-frequency.ts'
import { checkTaskSchedule } from './check-schedules.ts'
import type { Report } from './report.ts'

const CLOCK_FIELDS: Readonly<Record<'frequency' | 'pollingInterval' | 'cron' | 'rrule', TaskType>> = {
  frequency: 'periodic',
  pollingInterval: 'periodic',
  cron: 'scheduled',
  rrule: 'scheduled',
}

/**
 * `defaults`: a template's, which may lack anything. `written`: so that an invalid field is not also reported as
 * missing.
 */
export function checkSettings(
  settings: TaskSettings,
  written: unknown,
  path: string,
  defaults: boolean,
  report: Report,
): void {
  if (!defaults) checkClock(settings, written, path, report)
  if (settings.cron !== undefined && settings.rrule !== undefined) {
    report.error('TASK', at(path, 'rrule'), 'the task has both cron and rrule', 'keep one of them')
  }
  const { frequency, pollingInterval, maxLateness } = settings
  if (frequency !== undefined && pollingInterval !== undefined && frequency !== pollingInterval * 1000) {
    report.warning(
      'TASK',
      at(path, 'pollingInterval'),
      `pollingInterval ${pollingInterval} (s) differs from frequency ${frequency} (ms), which wins`,
      { text: 'keep frequency', fix: removing },
    )
  }
  if (settings.type === undefined || settings.type === 'periodic') {
    const seconds = pollingInterval === undefined ? undefined : pollingInterval * 1000
    checkFrequency('frequency', frequency, at(path, 'frequency'), report)
    checkFrequency('pollingInterval', seconds, at(path, 'pollingInterval'), report)
  }
  checkTaskSchedule(settings, path, report)
  if (maxLateness !== undefined && settings.misfire !== 'once' && settings.misfire !== 'all') {
    const message = 'maxLateness has no effect while missed ticks are skipped'
    report.warning('FIELD', at(path, 'maxLateness'), message, 'write "misfire": "once" or "all", or omit it')
  }
  checkLate(settings, path, report)
  if (settings.maxMissed !== undefined && settings.misfire !== 'all') {
    const message = 'maxMissed has no effect unless all missed ticks run'
    report.warning('FIELD', at(path, 'maxMissed'), message, 'write "misfire": "all", or omit it')
  }
}

function checkClock(settings: TaskSettings, written: unknown, path: string, report: Report): void {
  const { type } = settings
  const has = (field: string): boolean => ownValue(written, field) !== undefined
  const clocks = (Object.keys(CLOCK_FIELDS) as (keyof typeof CLOCK_FIELDS)[]).filter(has)
  const [first] = clocks
  if (type === undefined) {
    if (first === undefined || has('type')) return
    report.error('TASK', at(path, 'type'), `the task has ${shown(first)} but no type`, {
      text: `write "type": "${CLOCK_FIELDS[first]}"`,
      fix: adding(CLOCK_FIELDS[first]),
    })
    return
  }
  for (const field of clocks) {
    if (CLOCK_FIELDS[field] === type) continue
    report.warning(
      'FIELD',
      at(path, field),
      `${field} has no effect on a ${type} task`,
      `omit it, or write "type": "${CLOCK_FIELDS[field]}"`,
    )
  }
  if (type === 'periodic' && !has('frequency') && !has('pollingInterval')) {
    report.error(
      'TASK',
      at(path, 'frequency'),
      'a periodic task needs a frequency',
      'write "frequency": 60000 for once a minute (ms)',
    )
  }
  if (type === 'scheduled' && !has('cron') && !has('rrule')) {
    report.error(
      'TASK',
      at(path, 'cron'),
      'a scheduled task needs cron or rrule',
      'write "cron": "0 0 * * * ?" for every full hour',
    )
  }
}

function checkLate({ late, time }: TaskSettings, path: string, report: Report): void {
  if (late === undefined || time !== 'arrival') return
  const latePath = at(path, 'late')
  const hint = `omit "time" or "late"`
  if (typeof late === 'object')
    report.error('TASK', latePath, 'reorder follows the timestamps of messages, which "time": "arrival" ignores', hint)
  else
    report.warning(
      'FIELD',
      latePath,
      'late has no effect with "time": "arrival", because readings are never late then',
      hint,
    )
}
