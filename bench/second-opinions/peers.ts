/** The peers, asked when an expression runs next. */
import { DateTime } from 'luxon'
import { peerPackage } from '../subjects/by-hand.ts'

/** Gives the first `count` occurrences after `from`, epoch ms, each time from the beginning. */
export type Occurrences = (count: number) => readonly number[]

/** `expression`: cron of six fields, or the value of an RRULE. `from`: epoch ms; a rule starts there. */
export type ScheduleSubject = (expression: string, from: number, zone: string) => Promise<Occurrences>

interface Croner {
  Cron: new (
    text: string,
    options: { timezone: string; paused: true; legacyMode?: boolean },
  ) => {
    nextRun(after: Date): Date | null
  }
}
interface RruleTemporal {
  RRuleTemporal: new (options: { rruleString: string; maxIterations?: number }) => {
    all(goesOn: (date: unknown, index: number) => boolean): { epochMilliseconds: number }[]
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

const rruleTemporal: ScheduleSubject = async (expression, from, zone) => {
  await peerPackage('temporal-polyfill/global')
  const { RRuleTemporal } = await peerPackage<RruleTemporal>('rrule-temporal')
  const rule = new RRuleTemporal({ rruleString: withStart(expression, from, zone), maxIterations: 1_000_000 })
  return (count) => rule.all((_, i) => i < count).map(({ epochMilliseconds }) => epochMilliseconds)
}

export const scheduleSubjects: ReadonlyMap<string, ScheduleSubject> = new Map([
  ['croner', croner],
  ['rrule-temporal', rruleTemporal],
])
