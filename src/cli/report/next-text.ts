/** Formats the next runs of an expression as lines of text. */
import type { DowntimeRuns, RunNote, ScheduleChange, TouchedTime } from '#core/spi'
import type { NextRun, NextRuns, NextRunsOptions } from '#core'
import { counted, grouped } from '../numbers.ts'
import type { Paint } from '../terminal.ts'
import { formatSpan, formatTime } from '../time-text.ts'
import { visible } from '../visible.ts'
import { zoneOf, type Zone } from '../zone.ts'
import { tableLines } from './table.ts'

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const NOTES: Readonly<Record<RunNote, string>> = {
  'gap-shifted': 'shifted: clocks skip this local time that day',
  'overlap-first': 'first of two: this local time occurs twice',
  'overlap-second': 'second of two: this local time occurs twice',
}
const MAX_LATE_SHOWN = 5
const MAX_COUNTED = 1000

export function nextLines(expression: string, options: NextRunsOptions, result: NextRuns, paint: Paint): string[] {
  const zone = zoneOf(result.zone)
  const { gap, overlap } = result.dst
  return [
    `${paint('bold', visible(expression))}: ${result.kind} in ${result.zone}, from ${formatTime(options.from, zone)}`,
    ...(result.warning === undefined ? [] : [`${paint('yellow', 'WARNING')} ${visible(result.warning)}`]),
    '',
    ...runLines(options, result, zone),
    '',
    `${paint('bold', 'When the clocks change')} (two years; gap: ${gap}, overlap: ${overlap})`,
    ...changeLines(result),
    ...(options.down && result.downtime ? ['', ...downLines(options.down, result.downtime, zone, paint)] : []),
  ]
}

function runLines({ from, count = 10 }: NextRunsOptions, { runs }: NextRuns, zone: Zone): string[] {
  if (runs.length === 0) return ['It never runs again.']
  const rows = runs.map((run) => runRow(run, from, zone))
  const lines = tableLines([['local time', 'UTC', 'in', ''], ...rows], new Set([2]))
  return runs.length < count ? [...lines, 'After that it never runs again.'] : lines
}

function runRow({ at, scheduledAt, note }: NextRun, from: number, zone: Zone): string[] {
  const weekday = WEEKDAYS[new Date(zone.readingAt(at)).getUTCDay()] ?? ''
  return [
    `${weekday} ${scheduledAt}`,
    `${formatTime(at, zoneOf('UTC'))}Z`,
    formatSpan(at - from),
    note ? NOTES[note] : '',
  ]
}

function changeLines({ changes, untouched, zone }: NextRuns): string[] {
  if (changes.length + untouched.length === 0) return [`  never in ${zone}`]
  const days = [
    ...changes.map((change) => ({ day: change.day, rows: touchedRows(change) })),
    ...untouched.map((day) => ({ day, rows: [[day, '', 'no run is affected']] })),
  ]
  const rows = days.toSorted((a, b) => (a.day < b.day ? -1 : 1)).flatMap((one) => one.rows)
  return tableLines(rows).map((line) => `  ${line}`)
}

function touchedRows({ day, kind, offsetBefore, offsetAfter, touched, count }: ScheduleChange): string[][] {
  const left = count - touched.length
  const texts = touched.map((time) => touchedText(time))
  if (left > 0) texts.push(`and ${grouped(left)}${count >= MAX_COUNTED ? ' or more' : ''} others`)
  return texts.map((text, i) => (i === 0 ? [day, `${kind}, ${offsetBefore} to ${offsetAfter}`, text] : ['', '', text]))
}

function touchedText({ local, effect, runsAt }: TouchedTime): string {
  const time = timeOfDay(local)
  const [at = ''] = runsAt
  switch (effect) {
    case 'shifted':
      return `${time} does not exist: it runs at ${timeOfDay(at)}`
    case 'merged':
      return `${time} does not exist: it runs together with ${timeOfDay(at)}`
    case 'skipped':
      return `${time} does not exist: no run`
    case 'first':
    case 'second':
      return `${time} occurs twice: it runs the ${effect} time, at ${timeOfDay(at)}`
    case 'both':
      return `${time} occurs twice: it runs both times, at ${runsAt.map(timeOfDay).join(' and ')}`
  }
}

function timeOfDay(iso: string): string {
  return iso.slice(iso.indexOf('T') + 1)
}

function downLines(
  { from, to }: NonNullable<NextRunsOptions['down']>,
  downtime: NonNullable<NextRuns['downtime']>,
  zone: Zone,
  paint: Paint,
): string[] {
  const title = `Down from ${formatTime(from, zone)} to ${formatTime(to, zone)} (${formatSpan(to - from)})`
  const policies = (['skip', 'once', 'all'] as const).map((misfire) => [
    `  misfire ${misfire}`,
    lateText(downtime[misfire]),
  ])
  return [paint('bold', title), ...tableLines(policies)]
}

function lateText({ run, skipped, isExact }: DowntimeRuns): string {
  const left = `${isExact ? '' : 'at least '}${grouped(skipped)} skipped`
  if (run.length === 0) return `nothing runs late, ${left}`
  const shown = run.slice(0, MAX_LATE_SHOWN).join(', ')
  const rest = run.length > MAX_LATE_SHOWN ? ` and ${grouped(run.length - MAX_LATE_SHOWN)} more` : ''
  return `${counted(run.length, 'run')} late, ${left}: ${shown}${rest}`
}
