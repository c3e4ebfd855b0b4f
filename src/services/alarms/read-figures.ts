/** Reads the alarms of a period from the store, and computes their figures. */
import { AppError, makeIssue, refuse } from '#kernel'
import { machineTimers } from '#platform'
import { parameterReader } from '#services/shared'
import type { Condition } from '#storage'
import type { AlarmRecord } from './alarm-record.ts'
import type { AlarmCollections } from './collections.ts'
import type { AlarmQuery } from './contract.ts'
import { FigureSum, type Period } from './figures.ts'
import { type AlarmFigures, PERIOD } from './figures-schema.ts'

const DAY = 86_400_000
const MAX_DAYS = 366
const MAX_ALARMS = 200_000
const PORTION = 1_000
const LISTED = 10

const read = parameterReader(PERIOD)

/** Without times, the period is the last day. */
export function readPeriod(query: AlarmQuery, now: number): Period {
  const { until = now, from = until - DAY, operators = 1 } = read(query)
  const problem = from >= until ? 'is not before until' : until - from > MAX_DAYS * DAY ? 'is too early' : undefined
  if (problem === undefined) return { from, until, operators }
  throw refuse('the query', [makeIssue('QUERY', '/from', problem, `use at most ${MAX_DAYS} days before until`)])
}

/** Throws `TOO_LARGE` above 200,000 alarms. */
export async function readFigures(collections: AlarmCollections, period: Period): Promise<AlarmFigures> {
  const { alarms } = collections
  const { until } = period
  const sum = new FigureSum(period)
  for await (const portion of portionsOf(collections, period)) {
    for (const alarm of portion) sum.add(occurrenceOf(alarm))
  }
  const standing = standingAt(until)
  const stale: readonly Condition[] = [...standing, { field: 'createTime', op: 'lte', value: until - DAY }]
  const [standingCount, staleCount, oldest] = await Promise.all([
    alarms.count(standing),
    alarms.count(stale),
    alarms.find({ where: stale, sort: [{ field: 'createTime' }], limit: LISTED }),
  ])
  const shown = oldest.map(({ value: { id, source, type, createTime } }) => {
    return { id, source: source.id, type, since: new Date(createTime).toISOString() }
  })
  return { ...sum.figures(), standing: standingCount, stale: { count: staleCount, alarms: shown } }
}

/** Reads the alarms that were raised in a period, oldest first. Throws `TOO_LARGE` above 200,000 alarms. */
export async function* portionsOf(
  { alarms }: AlarmCollections,
  { from, until }: Period,
): AsyncGenerator<readonly AlarmRecord[]> {
  const within: readonly Condition[] = [
    { field: 'createTime', op: 'gte', value: from },
    { field: 'createTime', op: 'lt', value: until },
  ]
  const total = await alarms.count(within)
  if (total > MAX_ALARMS)
    throw new AppError('TOO_LARGE', `${total} alarms are too many; use a period of at most ${MAX_ALARMS}`)
  // continues at the last time, behind the alarms of that time that were read
  for (let since = from, offset = 0; ;) {
    const where: readonly Condition[] = [...within, { field: 'createTime', op: 'gte', value: since }]
    const some = await alarms.find({ where, sort: [{ field: 'createTime' }], offset, limit: PORTION })
    yield some.map(({ value }) => value)
    for (const { value } of some) {
      offset = value.createTime === since ? offset + 1 : 1
      since = value.createTime
    }
    if (some.length < PORTION) return
    await machineTimers.breathe()
  }
}

function standingAt(time: number): readonly Condition[] {
  return [
    { field: 'createTime', op: 'lt', value: time },
    { any: [[{ field: 'endTime', op: 'exists', value: false }], [{ field: 'endTime', op: 'gte', value: time }]] },
  ]
}

function occurrenceOf({ createTime, source, type, severity, wasHeld = false }: AlarmRecord) {
  return { time: createTime, source: source.id, type, severity, isHeld: wasHeld }
}
