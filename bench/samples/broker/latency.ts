/**
 * One sample: how long a message takes from its arrival at a whole host on SQLite to the call of an actuator, while
 * posts come by the clock. How many come is a share of what the same host takes from clients that wait for answers:
 * of messages that tasks hear and that fire nothing, as in the measurement of posts. Each message that is timed fires.
 */
import type { AddressInfo } from 'node:net'
import { PerformanceObserver } from 'node:perf_hooks'
import type { FastifyInstance } from 'fastify'
import { makeRulesWith } from '../../../src/host/wiring/make-rules.ts'
import { SERVICES } from '../../../src/host/wiring/service-table.ts'
import type { MakeService } from '../../../src/host/wiring/service-dependencies.ts'
import { spreadOf, type Spread } from '../calls.ts'
import { withFolder } from '../host/folder.ts'
import { startClient } from './client-process.ts'
import { waitedForCore } from './core-waits.ts'
import { NotedCalls } from './noted-calls.ts'
import { openHost } from './open-host.ts'
import type { PacedClientArguments } from './paced-client.ts'
import type { PostClientArguments } from './post-client.ts'
import { watchStalls } from './stalls.ts'
import { listen } from './tasks.ts'

/** Times in ms. */
export interface BrokerLatencyTry {
  /** posts per second of clients that wait for answers */
  readonly most: number
  /** that came by the clock, per second */
  readonly perSecond: number
  readonly messages: number
  /** from the head of the request in the host's process to the call */
  readonly arrived: Spread
  /** from the hand-over to the system in the client's process: with what waited because the host's loop was busy */
  readonly sent: Spread
  /** the longest pause of the host's collector */
  readonly gcMax: number
  /** share of the time in which the host's main thread had work and no core: what others on the machine add to the delays */
  readonly noCore: number
  /** ms in which cores of the machine stood still, where it can be told */
  readonly stood: number
}

export interface BrokerLatencySample extends BrokerLatencyTry {
  /** those before it, in which the machine stood still for longer than `MAX_STOOD` */
  readonly setAside: readonly BrokerLatencyTry[]
}

const CONNECTIONS = 64
/** posts before what clients that wait reach is measured, and ms that this takes */
const FIRST_POSTS = 20_000
const MAX_MS = 3_000
/** s by the clock */
const WARM = 2
const MEASURE = 8
/** ms of about ten seconds; a quiet machine has less than half of it, one with a busy neighbour several times as much */
const MAX_STOOD = 25
const MAX_SET_ASIDE = 4
/** ms in which the last message must have reached its actuator */
const PATIENCE = 10_000

/** Tries again when the machine stood still meanwhile: then the delays are its own. The last one counts, whatever it was. */
export async function brokerLatencySample({ share }: { share: number }): Promise<BrokerLatencySample> {
  const setAside: BrokerLatencyTry[] = []
  for (;;) {
    const latest = await tryOnce(share)
    if (!(latest.stood > MAX_STOOD) || setAside.length === MAX_SET_ASIDE) return { ...latest, setAside }
    setAside.push(latest)
  }
}

function tryOnce(share: number): Promise<BrokerLatencyTry> {
  return withFolder(async (folder) => {
    const calls = new NotedCalls()
    const rules: MakeService = (parts) => makeRulesWith([calls.plug], parts)
    const app = await openHost(folder, new Map([...SERVICES, ['rules', rules]]))
    try {
      await listen(app, { resources: CONNECTIONS, threshold: 90, actuator: { name: 'note' } })
      await app.listen({ port: 0, host: '127.0.0.1' })
      const { port } = app.server.address() as AddressInfo
      const most = await mostPerSecond(app, port)
      const perSecond = Math.round(most * share)
      const warm = perSecond * WARM
      const count = warm + perSecond * MEASURE
      calls.expect(count)
      app.server.prependListener('request', calls.arrive)
      const gcMax = watchCollector()
      const stood = await watchStalls()
      const [began, waited] = [performance.now(), waitedForCore()]
      await paced([port, CONNECTIONS, perSecond, count], calls)
      const noCore = (waitedForCore() - waited) / (performance.now() - began)
      return {
        most,
        perSecond: calls.sentPerSecond(warm),
        messages: count - warm,
        arrived: spreadOf(calls.waits('arrived', warm)),
        sent: spreadOf(calls.waits('sent', warm)),
        gcMax: gcMax(),
        noCore,
        stood: stood(),
      }
    } finally {
      app.server.closeAllConnections()
      await app.close()
    }
  })
}

async function mostPerSecond({ server }: FastifyInstance, port: number): Promise<number> {
  let posts = 0
  const count = (): void => void posts++
  server.on('request', count)
  const given: PostClientArguments = [port, CONNECTIONS, 1, 0]
  const client = startClient('post-client.ts', given)
  try {
    await client.until(() => posts >= FIRST_POSTS)
    const [first, began] = [posts, performance.now()]
    await client.until(() => performance.now() - began >= MAX_MS)
    return ((posts - first) * 1_000) / (performance.now() - began)
  } finally {
    await client.stop()
    server.off('request', count)
  }
}

async function paced(given: PacedClientArguments, calls: NotedCalls): Promise<void> {
  const [, , perSecond, count] = given
  const client = startClient('paced-client.ts', given)
  const latest = performance.now() + (count * 1_000) / perSecond + PATIENCE
  try {
    await client.until(() => calls.calls === count || performance.now() > latest)
    if (calls.calls < count) throw new Error(`${calls.calls} of ${count} messages reached their actuator`)
  } finally {
    await client.stop()
  }
}

function watchCollector(): () => number {
  let longest = 0
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longest = Math.max(longest, duration)
  })
  observer.observe({ entryTypes: ['gc'] })
  return () => {
    observer.disconnect()
    return longest
  }
}
