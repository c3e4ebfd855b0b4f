/**
 * One sample of the query service: hourly means of a million points beside SQLite's own GROUP BY and DuckDB over the same
 * points, ten million points as CSV beside the reader alone, and a stored query of a day over HTTP beside posts.
 */
import { execFile } from 'node:child_process'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { monitorEventLoopDelay, performance } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Worker } from 'node:worker_threads'
import { fastify } from 'fastify'
import { SampleReader } from '../../src/services/shared/series/sample-reader.ts'
import { createQueriesService } from '../../src/services/queries/service.ts'
import type { Storage } from '../../src/storage/contract.ts'
import { openMemoryBlobs } from '../../src/storage/memory/memory-objects.ts'
import { openSqlite } from '../../src/storage/sqlite/open-sqlite.ts'
import { peerPackage } from '../subjects/by-hand.ts'
import { withFolder } from './host/folder.ts'
import { startHostProcess } from './host/host-process.ts'
import { drive, spreadOf } from './host/tasks.ts'
import { samplesByHand, type Point } from './samples-by-hand.ts'

export type QueryServiceSubject = 'means' | 'csv' | 'ndjson' | 'arrow' | 'http' | 'bare'

/** ms, unless it says otherwise; what a subject does not measure is NaN */
export interface QueryServiceSample {
  readonly own: number
  readonly ownP99: number
  /** means: SQLite; csv, ndjson, arrow: the reader alone; http: a post alone, p99 */
  readonly peer: number
  /** means: DuckDB; http: a post among 50 callers, p99 */
  readonly otherPeer: number
  /** how late the loop was at most; http: the longest post among 50 callers; bare: the longest post */
  readonly stallMax: number
  /** MiB that memory grew by while the result went out */
  readonly grown: number
  /** http: CPU time of the host's main thread between a post's arrival and its answer, among 50 callers: p99, and the most */
  readonly held?: number
  readonly heldMost?: number
}

/** epoch ms */
const START = 1_700_006_400_000
const MINUTE = 60_000
const SERIES = 10
const BATCH = 50_000

export function queryServiceSample(subject: QueryServiceSubject): Promise<QueryServiceSample> {
  if (subject === 'http') return withFolder(overHttp)
  if (subject === 'bare') return bare()
  return withFolder(async (folder) => {
    const storage = await openSqlite({ folder, blobs: openMemoryBlobs() })
    try {
      return await (subject === 'means' ? means(storage, folder) : streamed(storage, subject))
    } finally {
      await storage.close()
    }
  })
}

const timeOf = (i: number): number => START + i * MINUTE
const valueOf = (s: number, i: number): number => ((i * 7_919 + s) % 1_000) / 8

async function fill(storage: Storage, points: number): Promise<void> {
  const { series } = storage.tenant('default')
  for (let s = 0; s < SERIES; s += 1) {
    for (let from = 0; from < points; from += BATCH) {
      const samples = Array.from({ length: BATCH }, (_, i) => {
        return { resource: `r${s}`, metric: 'm', time: timeOf(from + i), value: valueOf(s, from + i) }
      })
      await series.append({ samples })
    }
  }
  // What arrived is brought into order in the background, as it is some time after.
  await setTimeout(3_000 + (points * SERIES) / 500)
}

const TIMES = 9

async function means(storage: Storage, folder: string): Promise<QueryServiceSample> {
  const points = 100_000
  await fill(storage, points)
  const until = START + points * MINUTE
  const { execute } = createQueriesService({ storage, now: () => until }).as({ tenant: 'default', user: 'bench' })
  const data = Array.from({ length: SERIES }, (_, s) => ({ resource: `r${s}` }))
  const query = { metric: 'm', aggregation: 'mean', freq: 'PT1H', from: START, until, data }
  const db = samplesByHand(join(folder, 'by-hand.db'), allPoints(points))
  const byHand = db.prepare(
    `SELECT series, (time - ${START}) / 3600000 AS hour, avg(value) FROM samples GROUP BY series, hour`,
  )
  const duck = await openDuck(points)
  const times: Record<'own' | 'sqlite' | 'duck', number[]> = { own: [], sqlite: [], duck: [] }
  const delay = monitorEventLoopDelay({ resolution: 1 })
  let stallMax = 0
  for (let n = 0; n < TIMES; n += 1) {
    delay.reset()
    delay.enable()
    const began = performance.now()
    await execute({ query })
    times.own.push(performance.now() - began)
    delay.disable()
    // the first ones start threads
    if (n > 1) stallMax = Math.max(stallMax, delay.max / 1e6 - 1)
    const before = performance.now()
    byHand.all()
    times.sqlite.push(performance.now() - before)
    times.duck.push(await duck())
  }
  db.close()
  const { p50, p99 } = spreadOf(times.own.slice(2))
  return {
    own: p50,
    ownP99: p99,
    peer: spreadOf(times.sqlite).p50,
    otherPeer: spreadOf(times.duck).p50,
    stallMax,
    grown: Number.NaN,
  }
}

function* allPoints(points: number): Generator<Point> {
  for (let s = 0; s < SERIES; s += 1) for (let i = 0; i < points; i += 1) yield [s, timeOf(i), valueOf(s, i)]
}

interface Duck {
  readonly DuckDBInstance: {
    create(): Promise<{
      connect(): Promise<{ run(sql: string): Promise<unknown>; runAndReadAll(sql: string): Promise<unknown> }>
    }>
  }
}

/** The same points in a table of DuckDB's own, which is columns; gives the ms of a question. */
async function openDuck(points: number): Promise<() => Promise<number>> {
  const { DuckDBInstance } = await peerPackage<Duck>('@duckdb/node-api')
  const connection = await (await DuckDBInstance.create()).connect()
  await connection.run('CREATE TABLE samples (series INTEGER, time BIGINT, value DOUBLE)')
  for (let s = 0; s < SERIES; s += 1) {
    for (let from = 0; from < points; from += 20_000) {
      const rows = Array.from({ length: 20_000 }, (_, i) => `(${s},${timeOf(from + i)},${valueOf(s, from + i)})`)
      await connection.run(`INSERT INTO samples VALUES ${rows.join(',')}`)
    }
  }
  return async () => {
    const began = performance.now()
    await connection.runAndReadAll(
      `SELECT series, (time - ${START}) // 3600000 AS hour, avg(value) FROM samples GROUP BY series, hour ORDER BY series, hour`,
    )
    return performance.now() - began
  }
}

async function streamed(storage: Storage, format: 'csv' | 'ndjson' | 'arrow'): Promise<QueryServiceSample> {
  const points = 1_000_000
  await fill(storage, points)
  const until = START + points * MINUTE
  const { open } = createQueriesService({ storage, now: () => until }).as({ tenant: 'default', user: 'bench' })
  const { series } = storage.tenant('default')
  let [own, peer, stallMax, grown] = [0, 0, 0, 0]
  const delay = monitorEventLoopDelay({ resolution: 1 })
  const memory = (): number => process.memoryUsage().rss / 1_048_576
  for (let s = 0; s < SERIES; s += 1) {
    const span = { resources: [`r${s}`], metric: 'm', from: START, until }
    const before = performance.now()
    for await (const page of new SampleReader(series, { most: Number.POSITIVE_INFINITY, ahead: true }).slices(span))
      void page
    const between = performance.now()
    const rss = memory()
    delay.reset()
    delay.enable()
    const query = { resource: `r${s}`, metric: 'm', from: START, until }
    for await (const part of (await open({ query }, { format })).parts) void part
    delay.disable()
    peer += between - before
    own += performance.now() - between
    stallMax = Math.max(stallMax, delay.max / 1e6 - 1)
    if (s > 0) grown = Math.max(grown, memory() - rss)
  }
  return { own, ownP99: Number.NaN, peer, otherPeer: Number.NaN, stallMax, grown }
}

const DAY_ROWS = 1_440
const CALLERS = 50
const POSTS = 500

async function overHttp(folder: string): Promise<QueryServiceSample> {
  const host = await startHostProcess(folder)
  const callers = await host.connect(CALLERS)
  const [caller] = callers
  if (caller === undefined) throw new Error('there has to be a connection')
  const day = Array.from({ length: DAY_ROWS }, (_, i) => ({
    resource: 'r',
    timestamp: START + i * MINUTE,
    m: (i * 7_919) % 100,
  }))
  await caller.expect(200, 'POST', '/messages?forward=false', JSON.stringify(day))
  const stored = { query: { resource: 'r', metric: 'm', from: START, until: START + DAY_ROWS * MINUTE } }
  await caller.expect(200, 'PUT', '/config/query/day', JSON.stringify(stored))
  const ask = async (): Promise<void> => {
    const answer = await caller.expect(200, 'GET', '/data/query/day')
    if (answer.length < DAY_ROWS * 15) throw new Error('the day is not whole')
  }
  const run = (most: number, work: () => Promise<void>) => drive([caller], (n) => n < most, work)
  await run(200, ask)
  const alone = spreadOf((await run(1_000, ask)).times)
  await timedPosts(host)
  const quiet = spreadOf(await timedPosts(host))
  const over = new AbortController()
  const calling = callers.map(async (one) => {
    while (!over.signal.aborted) await one.expect(200, 'GET', '/data/query/day')
  })
  await host.figures()
  const busy = await timedPosts(host)
  const { posts: held } = await host.figures()
  over.abort()
  await Promise.all(calling)
  await host.stop()
  const { p50, p99 } = alone
  return {
    own: p50,
    ownP99: p99,
    peer: quiet.p99,
    otherPeer: spreadOf(busy).p99,
    stallMax: Math.max(...busy),
    grown: Number.NaN,
    held: spreadOf(held).p99,
    heldMost: Math.max(...held),
  }
}

/** What a post takes where nothing is done for it, on this machine, beside as many busy threads as it has cores. */
async function bare(): Promise<QueryServiceSample> {
  const app = fastify()
  app.post('/resources/:id/events', ({ body }) => Promise.resolve({ content: body }))
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const busy = Array.from({ length: 2 }, () => new Worker('for (;;);', { eval: true }))
  try {
    const server = { port, token: 'none' }
    await timedPosts(server)
    const times = await timedPosts(server)
    const { p50, p99 } = spreadOf(times)
    const none = Number.NaN
    return { own: p50, ownP99: p99, peer: none, otherPeer: none, stallMax: Math.max(...times), grown: none }
  } finally {
    await Promise.all(busy.map((thread) => thread.terminate()))
    await app.close()
  }
}

/** ms of each post of a client in a process of its own: what callers get costs their process time, and not the poster's. */
async function timedPosts({
  port,
  token,
}: {
  readonly port: number
  readonly token: string
}): Promise<readonly number[]> {
  const given = [join(import.meta.dirname, 'posts-client.ts'), String(port), token, String(POSTS)]
  const { stdout } = await promisify(execFile)(process.execPath, given)
  return JSON.parse(stdout) as number[]
}
