/** One sample: points on their way into a store of its own, or figures over them. */
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'
import type { Series } from '../../src/storage/contract.ts'
import { openMemoryBlobs } from '../../src/storage/memory/memory-objects.ts'
import { openSqlite } from '../../src/storage/sqlite/open-sqlite.ts'
import { withFolder } from './host/folder.ts'
import { spreadOf, type Spread } from './host/tasks.ts'
import { samplesByHand, type Point } from './samples-by-hand.ts'

export type SeriesSubject = 'message' | 'array' | 'hourly' | 'long'

export interface SeriesRequest {
  readonly subject: SeriesSubject
  /** appends or questions under way at a time */
  readonly inFlight: number
}

/** Sizes in bytes. */
export interface SeriesSample extends Spread {
  readonly perSecond: number
  /** the same question as plain SQL, ms */
  readonly handMs?: number
  readonly rssHalf: number
  readonly rssEnd: number
}

/** epoch ms */
const START = 1_700_000_000_000
const HOUR = 3_600_000
const METRICS = ['temperature', 'humidity', 'pressure', 'voltage', 'level'] as const
const RESOURCES = 1_000
const HISTORY = 1_000_000
const LONG = 10_000_000
const MEASURE_MS = 6_000
const QUESTIONS = 30

export function seriesSample({ subject, inFlight }: SeriesRequest): Promise<SeriesSample> {
  return withFolder(async (folder) => {
    const storage = await openSqlite({ folder, blobs: openMemoryBlobs() })
    const { series } = storage.tenant('default')
    try {
      switch (subject) {
        case 'message':
          return await appended(inFlight, forSome(), (n) => appendMessage(series, n))
        case 'array':
          return await appended(inFlight, forSome(), (n) => appendPoints(series, n, 1, 1_000))
        case 'long':
          return await appended(
            inFlight,
            (n) => n < LONG / 1_000,
            (n) => appendPoints(series, n, RESOURCES, 1_000),
          )
        case 'hourly':
          return await hourly(series, join(folder, 'by-hand.db'))
      }
    } finally {
      await storage.close()
    }
  })
}

function forSome(): () => boolean {
  const until = performance.now() + MEASURE_MS
  return () => performance.now() < until
}

/** `run` gives how many points it appended. */
async function appended(
  inFlight: number,
  more: (n: number) => boolean,
  run: (n: number) => Promise<number>,
): Promise<SeriesSample> {
  const times: number[] = []
  const memory: number[] = []
  let points = 0
  let next = 0
  const started = performance.now()
  const lane = async (): Promise<void> => {
    for (let n = next++; more(n); n = next++) {
      const before = performance.now()
      const count = await run(n)
      points += count
      times.push(performance.now() - before)
      if (n % 100 === 0) memory.push(process.memoryUsage.rss())
    }
  }
  await Promise.all(Array.from({ length: inFlight }, lane))
  const wallMs = performance.now() - started
  return {
    perSecond: (points * 1_000) / wallMs,
    ...spreadOf(times),
    rssHalf: memory[memory.length >> 1] ?? Number.NaN,
    rssEnd: process.memoryUsage.rss(),
  }
}

/** A message of a thing with one to five figures, as a broker keeps it: the samples and the message itself. */
async function appendMessage(series: Series, n: number): Promise<number> {
  const resource = `thing-${n % RESOURCES}`
  const time = START + n
  const samples = METRICS.slice(0, 1 + (n % METRICS.length)).map((metric, i) => {
    return { resource, metric, time, value: n * 1.5 + i }
  })
  await series.append({ samples })
  return samples.length
}

async function appendPoints(series: Series, n: number, resources: number, length: number): Promise<number> {
  const samples = Array.from({ length }, (_, i) => {
    const at = n * length + i
    return { resource: `thing-${at % resources}`, metric: 'temperature', time: START + at * 1_000, value: at * 1.5 }
  })
  await series.append({ samples })
  return length
}

async function hourly(series: Series, file: string): Promise<SeriesSample> {
  for (let n = 0; n < HISTORY / 1_000; n += 1) await appendPoints(series, n, 1, 1_000)
  // What arrived is brought into order in the background, as it is some time after.
  await setTimeout(3_000)
  const until = START + HISTORY * 1_000
  const question = { resources: ['thing-0'], metric: 'temperature', from: START, until, width: HOUR }
  const times: number[] = []
  const byHand: number[] = []
  const started = performance.now()
  const ask = sqlByHand(file)
  for (let n = 0; n < QUESTIONS; n += 1) {
    const before = performance.now()
    await series.buckets(question)
    const between = performance.now()
    ask()
    times.push(between - before)
    byHand.push(performance.now() - between)
  }
  const wallMs = performance.now() - started
  const rss = process.memoryUsage.rss()
  const perSecond = (HISTORY * QUESTIONS * 1_000) / wallMs
  return { perSecond, ...spreadOf(times), handMs: spreadOf(byHand).p50, rssHalf: rss, rssEnd: rss }
}

/** The mean alone. */
function sqlByHand(file: string): () => void {
  const points = function* (): Generator<Point> {
    for (let i = 0; i < HISTORY; i += 1) yield [0, START + i * 1_000, i * 1.5]
  }
  const statement = samplesByHand(file, points()).prepare(
    `SELECT (time - ${START}) / ${HOUR} AS hour, avg(value) FROM samples WHERE series = 0 GROUP BY hour`,
  )
  return () => void statement.all()
}
