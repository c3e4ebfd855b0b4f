/** One sample: the next thousand occurrences of an expression in a zone, again and again. */
import { ZONE, scheduleSubjects } from '../subjects/schedules.ts'
import { cpuMs } from './spent.ts'

export interface SchedulesSample {
  microsPerOccurrence: number
  occurrences: number
}

const FROM = Date.UTC(2016, 0, 1)
const COUNT = 1000
const MEASURE_MS = 300

export async function schedulesSample(name: string, expression: string): Promise<SchedulesSample> {
  const subject = scheduleSubjects.get(name)
  if (subject === undefined) throw new Error(`schedules: there is no subject "${name}"`)
  const occurrences = await subject(expression, FROM, ZONE)
  const warm = occurrences(COUNT).length
  if (warm !== COUNT) throw new Error(`schedules, ${name}: ${warm} occurrences of "${expression}", not ${COUNT}`)
  let count = 0
  let spent = 0
  const start = cpuMs()
  do {
    count += occurrences(COUNT).length
    spent = cpuMs() - start
  } while (spent < MEASURE_MS)
  return { microsPerOccurrence: (spent * 1000) / count, occurrences: count }
}
