/** `reflexarc next EXPR`: prints the next runs of a schedule, and the effects of clock changes. */
import { type NextRun, nextRuns, type NextRuns, type NextRunsOptions } from '#core'
import type { DowntimeRuns, DstPolicy, RunNote, ScheduleChange, TouchedTime } from '#core/spi'
import { AppError } from '#kernel'
import type { DefineCommand } from './command.ts'
import { counted, grouped } from './numbers.ts'
import { tableLines } from './report/table.ts'
import type { Paint, Terminal } from './terminal.ts'
import { spanOf, timeOf } from './time-option.ts'
import { formatSpan, formatTime } from './time-text.ts'
import { visible } from './visible.ts'
import { type Zone, zoneOf } from './zone.ts'

export const define: DefineCommand = (command, start) => {
  command
    .description(
      'Lists the next runs of a cron expression (Quartz with 6 or 7 fields, unix with 5, @daily) or an RFC 5545 rule, shows\n' +
        'how clock changes of the next two years affect it, and simulates a downtime under each misfire policy.\n\n' +
        'Times are ISO 8601, YYYY-MM-DD HH:MM:SS, or epoch numbers; times without an offset are in the zone.\n' +
        'A rule may contain lines for DTSTART, RDATE and EXDATE, separated by \\n.',
    )
    .argument('<expression...>', 'expression such as "0 30 2 * * ?" or "FREQ=DAILY;BYHOUR=2", in quotes')
    .option('--zone <zone>', 'IANA name or offset (default: the zone of DTSTART, otherwise UTC)')
    .option('-n, --count <number>', 'number of runs, 1 to 10000', '10')
    .option('--from <time>', 'list runs from this time (default: now)')
    .option('--down <from..to>', 'show late and skipped runs if the process is down between two times')
    .option('--dst-gap <policy>', 'for a time that clocks skip: shift or skip (default: shift)')
    .option(
      '--dst-overlap <policy>',
      'for a time that occurs twice: first, second or both (default: first, or both for hourly runs)',
    )
    .option('--changes', 'with --json: add a line { changes } for days with clock changes')
    .option('--json', 'print one run per line: { at, scheduledAt, note? }; with --down a last line { downtime }')
    .addHelpText('after', '\nExample:\n  reflexarc next "0 30 2 * * ?" --zone Europe/Brussels --from 2026-03-28 -n 3')
    .action((expression: readonly string[], flags: NextFlags) =>
      start(async (terminal) => runNext(expression.join(' '), flags, terminal, Date.now())),
    )
}

export interface NextFlags {
  zone?: string
  count: string
  from?: string
  down?: string
  dstGap?: string
  dstOverlap?: string
  changes?: boolean
  json?: boolean
}

/** Prints the next runs. `now`: epoch ms. Throws `USAGE` with all problems of the options and the expression. */
export function runNext(
  expression: string,
  flags: NextFlags,
  terminal: Pick<Terminal, 'out' | 'paint'>,
  now: number,
): 0 {
  // In a shell, a line break is written `
  // `.
  const text = expression.replaceAll('\\n', '\n')
  const { options, result } = read(text, flags, now)
  const lines = flags.json === true ? jsonLines(result, flags) : nextLines(text, options, result, terminal.paint)
  terminal.out(`${lines.join('\n')}\n`)
  return 0
}

function jsonLines({ runs, changes, untouched, downtime }: NextRuns, flags: NextFlags): string[] {
  const lines: unknown[] = runs.map((run) => ({ ...run, at: utc(run.at) }))
  if (flags.changes === true) lines.push({ changes, untouched })
  if (downtime !== undefined) lines.push({ downtime })
  return lines.map((line) => JSON.stringify(line))
}

function utc(instant: number): string {
  return new Date(instant).toISOString().replace('.000Z', 'Z')
}

function read(text: string, flags: NextFlags, now: number): { options: NextRunsOptions; result: NextRuns } {
  const problems: string[] = []
  const attempt = <T>(option: string, work: () => T): T | undefined => {
    try {
      return work()
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      problems.push(...problemsOf(option, error))
      return undefined
    }
  }
  const zone = attempt('--zone', () => zoneOf(flags.zone ?? 'UTC')) ?? zoneOf('UTC')
  // Times are shown in the output's zone, and a rule may name its own zone.
  const zoneOfText = flags.zone === undefined ? ownZone(text, now) : undefined
  const shown = zoneOfText ?? zone
  const from = attempt('--from', () => (flags.from === undefined ? now : timeOf(flags.from, shown))) ?? now
  const down = attempt('--down', () => (flags.down === undefined ? undefined : spanOf(flags.down, shown)))
  const count = attempt('--count', () => countOf(flags.count)) ?? 1
  const dst = attempt('--dst-gap, --dst-overlap', () => dstOf(flags)) ?? {}
  const options: NextRunsOptions = {
    from,
    count,
    dst,
    ...(flags.zone !== undefined && { zone: zone.name }),
    ...(down !== undefined && { down }),
  }
  const result = attempt('', () => nextRuns(text, options))
  if (result === undefined || problems.length > 0) throw new AppError('USAGE', problems.join('\nerror: '))
  return { options, result }
}

function problemsOf(option: string, error: AppError): string[] {
  const where = option === '' ? '' : `${option}: `
  if (error.issues.length === 0) return [`${where}${error.message}`]
  return error.issues.map(({ path, message, suggestion }) => {
    const field = path.replace(/^\//, '')
    return [`${where}${field}: ${message}`, suggestion].filter((part) => part !== undefined).join('; ')
  })
}

function ownZone(text: string, now: number): Zone | undefined {
  try {
    return zoneOf(nextRuns(text, { from: now, count: 1 }).zone)
  } catch {
    return undefined // reported later, when the expression is used
  }
}

function countOf(text: string): number {
  const count = Number(text)
  if (/^\d{1,5}$/.test(text) && count >= 1 && count <= 10_000) return count
  throw new AppError('USAGE', `"${text}" is not a valid number of runs; write 1 to 10000`)
}

const GAPS = ['shift', 'skip'] as const
const OVERLAPS = ['first', 'second', 'both'] as const

function dstOf({ dstGap, dstOverlap }: NextFlags): DstPolicy {
  const gap = GAPS.find((policy) => policy === dstGap)
  const overlap = OVERLAPS.find((policy) => policy === dstOverlap)
  const wrong: string[] = []
  if (dstGap !== undefined && gap === undefined)
    wrong.push(`"${dstGap}" is not a valid policy for a gap; write shift or skip`)
  if (dstOverlap !== undefined && overlap === undefined) {
    wrong.push(`"${dstOverlap}" is not a valid policy for an overlap; write first, second or both`)
  }
  if (wrong.length > 0) throw new AppError('USAGE', wrong.join('. '))
  return { ...(gap && { gap }), ...(overlap && { overlap }) }
}

const WEEKDAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat']
const NOTES: Readonly<Record<RunNote, string>> = {
  'gap-shifted': 'shifted: clocks skip this local time that day',
  'overlap-first': 'first of two: this local time occurs twice',
  'overlap-second': 'second of two: this local time occurs twice',
}
const MAX_LATE_SHOWN = 5
const MAX_COUNTED = 1000

/** Formats the next runs of an expression as lines of text. */
function nextLines(expression: string, options: NextRunsOptions, result: NextRuns, paint: Paint): string[] {
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
