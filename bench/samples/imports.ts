/** One sample: five million points into series, handed to the store as they are, or as a file that a whole host imports. */
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { performance } from 'node:perf_hooks'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout } from 'node:timers/promises'
import { createClient } from '../../src/client.ts'
import { readConfig } from '../../src/host/config.ts'
import { startHost } from '../../src/host/running-host.ts'
import { SERVICES } from '../../src/host/wiring/service-table.ts'
import { openMemoryBlobs } from '../../src/storage/memory/memory-objects.ts'
import { openSqlite } from '../../src/storage/sqlite/open-sqlite.ts'
import { withFolder } from './host/folder.ts'

export type ImportsSubject = 'store' | 'wide' | 'long'

/** Sizes in bytes. */
export interface ImportsSample {
  readonly perSecond: number
  /** us of all threads of the process for each point */
  readonly cpu: number
  readonly rssHalf: number
  readonly rssEnd: number
}

const POINTS = 5_000_000
const METRICS = ['temperature', 'humidity', 'pressure', 'voltage', 'level'] as const
const RESOURCES = 1_000
/** epoch ms */
const START = 1_700_000_000_000
/** points of one append, and appends under way at a time: as imports have them */
const BATCH = 20_000
const IN_FLIGHT = 2
const ROWS_AT_ONCE = 2_000
const LOOK_MS = 50

export function importsSample(subject: ImportsSubject): Promise<ImportsSample> {
  return withFolder((folder) => (subject === 'store' ? appended(folder) : imported(folder, subject)))
}

const resourceOf = (row: number): string => `thing-${row % RESOURCES}`
const timeOf = (row: number): number => START + Math.floor(row / RESOURCES) * 1_000
const valueOf = (row: number, column: number): number => ((row * METRICS.length + column) % 9_973) * 0.25

async function appended(folder: string): Promise<ImportsSample> {
  const storage = await openSqlite({ folder, blobs: openMemoryBlobs() })
  const { series } = storage.tenant('default')
  const memory: number[] = []
  let next = 0
  const began = performance.now()
  const cpuBefore = process.cpuUsage()
  const lane = async (): Promise<void> => {
    for (let n = next++; n < POINTS / BATCH; n = next++) {
      const samples = Array.from({ length: BATCH }, (_, i) => {
        const at = n * BATCH + i
        const [row, column] = [Math.floor(at / METRICS.length), at % METRICS.length]
        return {
          resource: resourceOf(row),
          metric: METRICS[column] ?? '',
          time: timeOf(row),
          value: valueOf(row, column),
        }
      })
      await series.append({ samples })
      memory.push(process.memoryUsage.rss())
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, lane))
  const perSecond = (POINTS * 1_000) / (performance.now() - began)
  const cpu = cpuEach(cpuBefore)
  await storage.close()
  return { perSecond, cpu, ...sizes(memory) }
}

async function imported(folder: string, form: 'wide' | 'long'): Promise<ImportsSample> {
  const credentials = { key: 'k', secret: 's' }
  const given = { port: 0, data: folder, ...credentials, empty: true, logLevel: 'silent', rateLimit: 0 }
  const host = await startHost(readConfig(given, {}, [...SERVICES.keys()]), { write: () => undefined }, { hashCost: 2 })
  try {
    const { objects, subscriptions } = createClient({ url: host.url, credentials })
    const { href } = await objects.sign('etl-import', 'upload/points.csv', 'PUT')
    // made twice: a file that this process held would count as the host's memory
    let length = 0
    for (const part of csvOf(form)) length += Buffer.byteLength(part)
    await upload(href, length, Readable.from(csvOf(form), { objectMode: false }))
    const cpuBefore = process.cpuUsage()
    const memory: number[] = []
    for (;;) {
      const [info] = await subscriptions.transfers.imports()
      if (info !== undefined) memory.push(process.memoryUsage.rss())
      if (info?.ended !== undefined) {
        if (info.points !== POINTS) throw new Error(`${info.points} points are there: ${info.error ?? ''}`)
        const ms = Date.parse(info.ended) - Date.parse(info.started ?? info.created)
        return { perSecond: (POINTS * 1_000) / ms, cpu: cpuEach(cpuBefore), ...sizes(memory) }
      }
      await setTimeout(LOOK_MS)
    }
  } finally {
    await host.stop()
  }
}

/** By `node:http`: of a body, fetch would hold all. */
async function upload(address: string, length: number, content: Readable): Promise<void> {
  const headers = { 'content-type': 'text/csv', 'content-length': length }
  const put = request(address, { method: 'PUT', headers })
  const answered = once(put, 'response') as Promise<[IncomingMessage]>
  await Promise.all([pipeline(content, put), answered])
  const [answer] = await answered
  if (answer.statusCode !== 200) throw new Error(`the upload was answered with ${answer.statusCode}`)
  answer.resume()
}

function* csvOf(form: 'wide' | 'long'): Generator<string> {
  yield form === 'wide' ? `resource,timestamp,${METRICS.join(',')}\n` : 'resource,metric,timestamp,value\n'
  let text = ''
  for (let row = 0; row < POINTS / METRICS.length; row++) {
    const time = new Date(timeOf(row)).toISOString()
    const values = METRICS.map((_, column) => valueOf(row, column))
    if (form === 'wide') text += `${resourceOf(row)},${time},${values.join(',')}\n`
    else for (const [i, metric] of METRICS.entries()) text += `${resourceOf(row)},${metric},${time},${values[i]}\n`
    if (row % ROWS_AT_ONCE !== 0) continue
    yield text
    text = ''
  }
  yield text
}

function cpuEach(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / POINTS
}

function sizes(memory: readonly number[]): Pick<ImportsSample, 'rssHalf' | 'rssEnd'> {
  return { rssHalf: memory[memory.length >> 1] ?? Number.NaN, rssEnd: memory.at(-1) ?? Number.NaN }
}
