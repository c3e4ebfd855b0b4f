/**
 * Sample of the cost of a post, by the clock and by CPU time of the main thread. The same bodies go to a bare fastify
 * route that parses them, and to the broker of a whole host on SQLite; arrays also into series alone, without HTTP.
 */
import type { AddressInfo } from 'node:net'
import { fastify, type FastifyInstance, type FastifyRequest } from 'fastify'
import { openMemoryBlobs } from '../../../src/storage/memory/memory-objects.ts'
import { openSqlite } from '../../../src/storage/sqlite/open-sqlite.ts'
import { withFolder } from '../host/folder.ts'
import { cpuMs } from '../spent.ts'
import { pointsOf } from './bodies.ts'
import { startClient } from './client-process.ts'
import { openHost } from './open-host.ts'
import type { PostClientArguments } from './post-client.ts'
import { listen, LOG } from './tasks.ts'
import { until } from './until.ts'

export interface BrokerPostsRequest {
  /** `keyed`: with a unique idempotency key per post; `task`: one task per resource */
  readonly subject: 'bare' | 'broker' | 'keyed' | 'task' | 'append'
  readonly points: number
}

export interface BrokerPostsSample {
  readonly posts: number
  readonly cpuMs: number
  readonly allCpuMs: number
  readonly wallMs: number
}

const CONNECTIONS = 64
const MEASURE_MS = 4_000
/** warm-up, excludes compilation */
const FIRST_POSTS = 100_000
const FIRST_ARRAYS = 300
/** concurrent appends */
const IN_FLIGHT = 8

export function brokerPostsSample(request: BrokerPostsRequest): Promise<BrokerPostsSample> {
  const { subject, points } = request
  return withFolder(async (folder) => {
    if (subject === 'append') return appends(folder, points)
    const app = subject === 'bare' ? bare() : await host(folder, subject)
    await app.listen({ port: 0, host: '127.0.0.1' })
    return driven(app, points, subject === 'keyed')
  })
}

async function driven(app: FastifyInstance, points: number, isKeyed: boolean): Promise<BrokerPostsSample> {
  const { port } = app.server.address() as AddressInfo
  let posts = 0
  app.server.on('request', () => posts++)
  const clientArguments: PostClientArguments = [port, CONNECTIONS, points, Number(isKeyed)]
  const client = startClient('post-client.ts', clientArguments)
  try {
    await client.until(() => posts >= (points === 1 ? FIRST_POSTS : FIRST_ARRAYS))
    return await measured(() => posts)
  } finally {
    await client.stop()
    app.server.closeAllConnections()
    await app.close()
  }
}

async function measured(count: () => number): Promise<BrokerPostsSample> {
  const [posts, cpu, all, wall] = [count(), cpuMs(), process.cpuUsage(), performance.now()]
  await until(() => performance.now() - wall >= MEASURE_MS)
  const { user, system } = process.cpuUsage(all)
  return {
    posts: count() - posts,
    cpuMs: cpuMs() - cpu,
    allCpuMs: (user + system) / 1_000,
    wallMs: performance.now() - wall,
  }
}

function bare(): FastifyInstance {
  const app = fastify()
  app.post('/resources/:id/events', async ({ body, params }: FastifyRequest) => ({
    message: `Published message async for ${(params as { id: string }).id}`,
    content: Array.isArray(body) ? {} : body,
  }))
  return app
}

async function host(folder: string, subject: string): Promise<FastifyInstance> {
  const app = await openHost(folder)
  if (subject !== 'task') return app
  await listen(app, { resources: CONNECTIONS, threshold: 90, actuator: LOG })
  return app
}

/** Appends the same points of the same devices to series, as after parsing. */
async function appends(folder: string, points: number): Promise<BrokerPostsSample> {
  const storage = await openSqlite({ folder, blobs: openMemoryBlobs() })
  const { series } = storage.tenant('bench')
  let count = 0
  let next = 0
  const over = new AbortController()
  const lane = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const device = next++ % CONNECTIONS
      const samples = pointsOf(device, points).map(({ time, value }) => {
        return { resource: `boiler-${device}`, metric: 'temperature', time, value }
      })
      await series.append({ samples })
      count++
    }
  }
  const lanes = Array.from({ length: IN_FLIGHT }, lane)
  await until(() => count >= FIRST_ARRAYS)
  const sample = await measured(() => count)
  over.abort()
  await Promise.all(lanes)
  await storage.close()
  return sample
}
