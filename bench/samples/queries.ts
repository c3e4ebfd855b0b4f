/** One sample: a query of the broker's time series over a million points, and the same as SQL by hand on a table of the same rows. */
import { join } from 'node:path'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import type { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import type { SeriesQuery } from '../../src/services/broker/contract.ts'
import { createSeries } from '../../src/services/broker/series/create-series.ts'
import type { Store } from '../../src/storage/contract.ts'
import { openMemoryBlobs } from '../../src/storage/memory/memory-objects.ts'
import { openSqlite } from '../../src/storage/sqlite/open-sqlite.ts'
import { withFolder } from './host/folder.ts'
import { spreadOf } from './host/tasks.ts'
import { samplesByHand, type Point } from './samples-by-hand.ts'

export type QuerySubject = 'mean' | 'figures' | 'median' | 'latest'

/** ms */
export interface QueriesSample {
  readonly p50: number
  readonly p99: number
  readonly handMs: number
  /** how late the loop was at most */
  readonly stallMax: number
}

/** epoch ms */
const START = 1_700_000_000_000
const HOUR = 3_600_000
const POINTS = 1_000_000
const UNTIL = START + POINTS * 1_000
const RANGE = { from: START, until: UNTIL, grouping: 'hour' }
const HOURS = `SELECT (time - ${START}) / ${HOUR} AS hour`
const OF_SERIES = 'FROM samples WHERE series = 0'

interface Question {
  readonly query: SeriesQuery
  readonly sql: string
  readonly times: number
}

const QUESTIONS: Readonly<Record<QuerySubject, Question>> = {
  mean: { query: { ...RANGE, aggregate: 'mean' }, sql: `${HOURS}, avg(value) ${OF_SERIES} GROUP BY hour`, times: 20 },
  figures: {
    query: { ...RANGE, aggregates: 'mean,min,max,sum,count,std' },
    sql: `${HOURS}, avg(value), min(value), max(value), sum(value), count(*), sum(value * value) ${OF_SERIES} GROUP BY hour`,
    times: 20,
  },
  median: {
    query: { ...RANGE, aggregate: 'median' },
    sql: `
      SELECT hour, avg(value) FROM (
        ${HOURS}, value, row_number() OVER ranked AS place, count(*) OVER (PARTITION BY (time - ${START}) / ${HOUR}) AS n
        ${OF_SERIES} WINDOW ranked AS (PARTITION BY (time - ${START}) / ${HOUR} ORDER BY value)
      ) WHERE place IN ((n + 1) / 2, (n + 2) / 2) GROUP BY hour`,
    times: 5,
  },
  latest: {
    query: { from: START, until: UNTIL, order: 'descending' },
    sql: `SELECT time, value ${OF_SERIES} ORDER BY time DESC LIMIT 2000`,
    times: 100,
  },
}

export function queriesSample(subject: QuerySubject): Promise<QueriesSample> {
  return withFolder(async (folder) => {
    const storage = await openSqlite({ folder, blobs: openMemoryBlobs() })
    try {
      const store = storage.tenant('default')
      await fill(store)
      return await measured(QUESTIONS[subject], store, samplesByHand(join(folder, 'by-hand.db'), points()))
    } finally {
      await storage.close()
    }
  })
}

const timeOf = (i: number): number => START + i * 1_000
const valueOf = (i: number): number => (i * 7_919) % 1_000

function* points(): Generator<Point> {
  for (let i = 0; i < POINTS; i += 1) yield [0, timeOf(i), valueOf(i)]
}

async function fill(store: Store): Promise<void> {
  const BATCH = 10_000
  for (let from = 0; from < POINTS; from += BATCH) {
    const samples = Array.from({ length: BATCH }, (_, i) => {
      return { resource: 'r', metric: 'm', time: timeOf(from + i), value: valueOf(from + i) }
    })
    await store.series.append({ samples })
  }
  // What arrived is brought into order in the background, as it is some time after.
  await setTimeout(3_000)
}

async function measured(
  { query, sql, times: count }: Question,
  store: Store,
  db: DatabaseSync,
): Promise<QueriesSample> {
  const { series } = createSeries({ store, now: () => UNTIL })
  const byHand = db.prepare(sql)
  const times: number[] = []
  const handTimes: number[] = []
  let stallMax = 0
  for (let n = 0; n < count; n += 1) {
    const delay = monitorEventLoopDelay({ resolution: 1 })
    delay.enable()
    const before = performance.now()
    await series.get('r', 'm', query)
    const between = performance.now()
    delay.disable()
    byHand.all()
    times.push(between - before)
    handTimes.push(performance.now() - between)
    // The first millisecond is the clock's own.
    stallMax = Math.max(stallMax, delay.max / 1e6 - 1)
  }
  db.close()
  return { ...spreadOf(times), handMs: spreadOf(handTimes).p50, stallMax }
}
