/** Reads the lines of a recurrence rule (RFC 5545, 3.1 and 3.8): DTSTART, RRULE, RDATE, EXDATE, each with its zone. */
import { AppError, type Issue } from '#kernel'
import { icalDate, type IcalDate } from './ical-date.ts'
import type { Zone } from './schedule.ts'
import { quoted, scheduleProblem } from './schedule-problem.ts'
import type { Zones } from './zone.ts'

export interface DateLine {
  /** zone of TZID; UTC when the date ends in Z */
  zone: Zone | undefined
  dates: readonly IcalDate[]
}

export interface RruleLines {
  start: DateLine | undefined
  rules: readonly string[]
  added: readonly DateLine[]
  removed: readonly DateLine[]
}

const LONGEST = 20_000
const MAX_RULES = 8
const LINE = /^(DTSTART|RDATE|EXDATE)((?:;[^:]*)?):(.*)$/i
const WHOLE_RULE = /^(?:RRULE(?:;[^:]*)?:)?(\s*[A-Z]+=.*)$/i

type Report = (problem: Issue) => void

export function readRruleLines(text: string, zones: Zones, report: Report): RruleLines {
  const starts: DateLine[] = []
  const rules: string[] = []
  const added: DateLine[] = []
  const removed: DateLine[] = []
  const refuse = (message: string, suggestion: string): void => report(scheduleProblem('rrule', message, suggestion))
  if (typeof text !== 'string' || text.length > LONGEST) {
    refuse(`${quoted(text)} is not a rule of at most ${LONGEST} characters`, 'use a rule such as FREQ=DAILY;BYHOUR=9')
    return { start: undefined, rules, added, removed }
  }
  for (const line of text.replaceAll(/\r?\n[ \t]/g, '').split(/\r?\n/)) {
    const trimmed = line.trim()
    if (trimmed === '') continue
    const dated = LINE.exec(trimmed)
    const rule = WHOLE_RULE.exec(trimmed)
    if (dated) {
      const name = (dated[1] ?? '').toUpperCase()
      const target = name === 'DTSTART' ? starts : name === 'RDATE' ? added : removed
      target.push(readDates(name, dated[2] ?? '', dated[3] ?? '', zones, report))
    } else if (rule) rules.push(rule[1] ?? '')
    else refuse(`${quoted(trimmed)} is not a valid line`, 'use lines of DTSTART, RRULE, RDATE and EXDATE')
  }
  const [start] = starts
  if (starts.length > 1 || (start && start.dates.length > 1)) refuse('DTSTART appears more than once', 'write it once')
  if (rules.length > MAX_RULES) refuse(`${rules.length} rules are too many`, `use at most ${MAX_RULES}`)
  if (rules.length === 0 && added.length === 0) refuse('RRULE is missing', 'use a rule such as FREQ=DAILY;BYHOUR=9')
  return { start, rules, added, removed }
}

function readDates(name: string, parameters: string, values: string, zones: Zones, report: Report): DateLine {
  const dates: IcalDate[] = []
  let zone: Zone | undefined
  for (const parameter of parameters.split(';').slice(1)) {
    const [key = '', value = ''] = parameter.split('=')
    if (/^TZID$/i.test(key)) zone = readZone(value.replaceAll('"', ''), zones, report)
    else if (!/^VALUE$/i.test(key) || !/^DATE(?:-TIME)?$/i.test(value)) {
      report(
        scheduleProblem(
          'rrule',
          `${name}: ${quoted(parameter)} is not a valid parameter`,
          'use TZID=... or VALUE=DATE',
        ),
      )
    }
  }
  for (const value of values.split(',')) {
    const date = icalDate(value.trim())
    if (date) dates.push(date)
    else {
      const suggestion = 'use 20300131, 20300131T090000 or 20300131T090000Z, in 1600-2199'
      report(scheduleProblem('rrule', `${name}: ${quoted(value)} is not a valid date`, suggestion))
    }
  }
  return { zone, dates }
}

function readZone(text: string, zones: Zones, report: Report): Zone | undefined {
  try {
    return zones.parse(text)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    for (const issue of error.issues) report({ ...issue, path: '/rrule' })
    return undefined
  }
}
