/** Who answers when an expression runs next: this library and its peers, each in the way that it answers fastest. */
import { DateTime } from 'luxon'
import { parseSchedule } from '../../src/index.ts'
import { peerPackage } from './by-hand.ts'

export const ZONE = 'Europe/Brussels'

/** Gives the first `count` occurrences after `from`, epoch ms, each time from the beginning. */
export type Occurrences = (count: number) => readonly number[]

/** `expression`: cron of six fields, or the value of an RRULE. `from`: epoch ms; a rule starts there. */
export type ScheduleSubject = (expression: string, from: number, zone: string) => Promise<Occurrences>

interface DateLike {
  toDate(): Date
}
interface CronParser {
  CronExpressionParser: { parse(text: string, options: { currentDate: Date; tz: string }): { next(): DateLike } }
}
interface Croner {
  Cron: new (
    text: string,
    options: { timezone: string; paused: true; legacyMode?: boolean },
  ) => {
    nextRun(after: Date): Date | null
  }
}
interface Rrule {
  default: { rrulestr(text: string): { all(goesOn: (date: Date, index: number) => boolean): Date[] } }
}
interface RruleTemporal {
  RRuleTemporal: new (options: { rruleString: string; maxIterations?: number }) => {
    all(goesOn: (date: unknown, index: number) => boolean): { epochMilliseconds: number }[]
  }
}

const own =
  (field: 'cron' | 'rrule'): ScheduleSubject =>
  async (expression, from, zone) => {
    const common = { type: 'scheduled', start: from, timeZone: zone } as const
    const schedule = parseSchedule(
      field === 'cron' ? { ...common, cron: expression } : { ...common, rrule: expression },
    )
    return (count) => {
      const found: number[] = []
      for (let at = schedule.next(from); at !== null && found.length < count; at = schedule.next(at)) found.push(at)
      return found
    }
  }

const cronParser: ScheduleSubject = async (expression, from, zone) => {
  const { CronExpressionParser } = (await import('cron-parser')) as CronParser
  return (count) => {
    const dates = CronExpressionParser.parse(expression, { currentDate: new Date(from), tz: zone })
    return Array.from({ length: count }, () => dates.next().toDate().getTime())
  }
}

const croner: ScheduleSubject = async (expression, from, zone) => {
  const { Cron } = await peerPackage<Croner>('croner')
  const job = new Cron(expression, { timezone: zone, paused: true })
  return (count) => {
    const found: number[] = []
    let date: Date | null = new Date(from)
    while (found.length < count && (date = job.nextRun(date)) !== null) found.push(date.getTime())
    return found
  }
}

function withStart(expression: string, from: number, zone: string): string {
  const start = DateTime.fromMillis(from, { zone }).toFormat("yyyyMMdd'T'HHmmss")
  return `DTSTART;TZID=${zone}:${start}\nRRULE:${expression}`
}

const rrule: ScheduleSubject = async (expression, from, zone) => {
  const { rrulestr } = ((await import('rrule')) as unknown as Rrule).default
  const text = withStart(expression, from, zone)
  return (count) =>
    rrulestr(text)
      .all((_, i) => i < count)
      .map((date) => date.getTime())
}

const rruleTemporal: ScheduleSubject = async (expression, from, zone) => {
  await peerPackage('temporal-polyfill/global')
  const { RRuleTemporal } = await peerPackage<RruleTemporal>('rrule-temporal')
  const rule = new RRuleTemporal({ rruleString: withStart(expression, from, zone), maxIterations: 1_000_000 })
  return (count) => rule.all((_, i) => i < count).map(({ epochMilliseconds }) => epochMilliseconds)
}

export const scheduleSubjects: ReadonlyMap<string, ScheduleSubject> = new Map([
  ['cron', own('cron')],
  ['rrule', own('rrule')],
  ['cron-parser', cronParser],
  ['croner', croner],
  ['rrule 2.8.1', rrule],
  ['rrule-temporal', rruleTemporal],
])
