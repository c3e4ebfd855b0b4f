/**
 * One sample: what very many single messages leave behind in the memory of who takes them. Ten looks, each after the
 * same number of messages, when all are answered and can be read, and after a full collection. Needs `--expose-gc`.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { createSeries } from '../../../src/services/broker/series/create-series.ts'
import { createBrokerService } from '../../../src/services/broker/service.ts'
import { openMemoryBlobs } from '../../../src/storage/memory/memory-objects.ts'
import { openSqlite } from '../../../src/storage/sqlite/open-sqlite.ts'
import { withFolder } from '../host/folder.ts'
import { heapUsed } from '../spent.ts'
import { bodyOf } from './bodies.ts'
import type { CountedClientArguments } from './counted-client.ts'
import { openHost, PAIR } from './open-host.ts'
import { listen, LOG } from './tasks.ts'

export interface BrokerMemoryRequest {
  /** `broker`: alone, without HTTP; `host`: a whole host with a task for each resource, over loopback */
  readonly subject: 'broker' | 'host'
  readonly messages: number
}

/** Sizes in bytes. */
export interface MemoryLook {
  readonly messages: number
  readonly heap: number
  readonly external: number
  readonly rss: number
}

export interface BrokerMemorySample {
  readonly looks: readonly MemoryLook[]
  /** messages per second, looks left out */
  readonly perSecond: number
}

/** Posts, and resolves when all are answered. */
type Posts = (count: number) => Promise<unknown>
/** Resolves when what was answered can be read. */
type Settled = () => Promise<unknown>

const LOOKS = 10
const RESOURCES = 1_000
/** posts under way at a time */
const CONNECTIONS = 64
/** the actuators of one resource in ten are called */
const THRESHOLD = 920
/** ms for what goes on behind the answers */
const REST_MS = 500

export function brokerMemorySample({ subject, messages }: BrokerMemoryRequest): Promise<BrokerMemorySample> {
  return withFolder((folder) => (subject === 'host' ? ofHost(folder, messages) : ofBroker(folder, messages)))
}

async function ofBroker(folder: string, messages: number): Promise<BrokerMemorySample> {
  const storage = await openSqlite({ folder, blobs: openMemoryBlobs() })
  const service = createBrokerService({ storage, now: Date.now, makeSeries: createSeries })
  await service.start()
  const { posting } = service.as({ tenant: 'default', user: 'bench' })
  const bodies = Array.from({ length: RESOURCES }, (_, device) => bodyOf(device, 1))
  let sent = 0
  const posts: Posts = (count) => {
    const last = sent + count
    const lane = async (): Promise<void> => {
      while (sent < last) {
        const device = sent++ % RESOURCES
        await posting.events(`boiler-${device}`, JSON.parse(bodies[device] ?? ''))
      }
    }
    return Promise.all(Array.from({ length: CONNECTIONS }, lane))
  }
  try {
    return await looked(messages, posts, () => service.readable('default'))
  } finally {
    await service.stop()
    await storage.close()
  }
}

async function ofHost(folder: string, messages: number): Promise<BrokerMemorySample> {
  const app = await openHost(folder)
  await listen(app, { resources: RESOURCES, threshold: THRESHOLD, actuator: LOG })
  await app.listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as AddressInfo
  const given: CountedClientArguments = [port, CONNECTIONS, RESOURCES]
  const client = fork(join(import.meta.dirname, 'counted-client.ts'), given.map(String))
  const gone = once(client, 'exit').then(() => {
    throw new Error('the client ended before all was posted')
  })
  // it ends in the end
  gone.catch(() => undefined)
  const posts: Posts = (count) => {
    client.send(count)
    return Promise.race([once(client, 'message'), gone])
  }
  const settled: Settled = () => app.inject({ url: '/resources/boiler-0/current', headers: { authorization: PAIR } })
  try {
    return await looked(messages, posts, settled)
  } finally {
    client.kill()
    app.server.closeAllConnections()
    await app.close()
  }
}

async function looked(messages: number, posts: Posts, settled: Settled): Promise<BrokerMemorySample> {
  const each = Math.ceil(messages / LOOKS)
  const looks: MemoryLook[] = []
  let spent = 0
  for (let look = 1; look <= LOOKS; look++) {
    const began = performance.now()
    await posts(each)
    await settled()
    spent += performance.now() - began
    await setTimeout(REST_MS)
    const heap = heapUsed()
    const { external, rss } = process.memoryUsage()
    looks.push({ messages: look * each, heap, external, rss })
  }
  return { looks, perSecond: (each * LOOKS * 1_000) / spent }
}
