/**
 * Simulates streams of messages: clients that post over HTTP, WebSockets and MQTT, and readers of all kinds. Some
 * readers continue after the last message they read, some leave, and some never read.
 */
import type { JsonObject } from '../../../src/kernel/json.ts'
import { BEGINNING } from '../world/virtual-loop.ts'
import type { World } from '../world/world.ts'
import type { ServiceModel, SimulatedService } from './simulated-service.ts'
import { send, WAYS_TO_SEND, type Sending, type StreamMessage } from './stream-senders.ts'
import { StreamReader, WAYS_TO_READ, type Reading } from './stream-readers.ts'

const RESOURCES = ['valve', 'tap'] as const
/** ms that a message may take from its acknowledgement to a reader that keeps up */
const UNDER_WAY_MS = 5_000
/** ms after which a reader that never reads is disconnected, including detection */
const STUCK_MS = 100_000
/** bytes that may wait for a reader that never reads, including its connection's buffers */
const MOST_WAITING = 500_000

export const streams: SimulatedService = {
  name: 'streams',
  onlyWhenDrawn: true,
  needs: ['broker'],
  asks: [
    'GET /messages',
    'GET /resources/:id/events',
    'POST /resources/:id/events',
    'GET /resources/:id/events/subscribe',
    'GET /resources/:id/events/publish',
    'GET /resources/:id/series/:metric/raw',
    'GET /metrics',
  ],
  operations: {
    send: {
      weight: 10,
      draw: (chance, n) => ({
        n,
        resource: chance.of(RESOURCES),
        way: chance.of(WAYS_TO_SEND),
        count: chance.of([1, 3, 10, 40]),
        pad: chance.of([0, 0, 0, 20_000]),
      }),
    },
    follow: {
      weight: 4,
      draw: (chance) => ({
        resource: chance.of([...RESOURCES, '*']),
        way: chance.of(WAYS_TO_READ),
        reads: chance.is(0.85),
        // most readers stay
        staysMs: chance.of([500, 5000, null, null, null]),
      }),
    },
  },
  model: (world) => new Streams(world),
}

class Streams implements ServiceModel {
  readonly #world: World
  readonly #sent: StreamMessage[] = []
  readonly #readers: StreamReader[] = []

  constructor(world: World) {
    this.#world = world
  }

  act(name: string, tenant: string, given: JsonObject): void {
    const world = this.#world
    if (name === 'follow') {
      const reader = new StreamReader(world, { tenant, ...given } as unknown as Reading)
      this.#readers.push(reader)
      // not counted as work to wait for, because it never ends
      void reader.follow()
      return
    }
    const sending = { tenant, ...given } as unknown as Sending
    const messages = Array.from({ length: sending.count }, (_, i): StreamMessage => {
      const m = sending.n * 100 + i
      const { resource, n } = sending
      return { tenant, resource, m, burst: n, timestamp: BEGINNING + m * 10, attempts: 0, mayBeThere: false }
    })
    this.#sent.push(...messages)
    world.work(`send ${sending.n}`, () => send(world, sending, messages))
  }

  async verify(tenant: string): Promise<void> {
    for (const resource of RESOURCES) await this.#verifySeries(tenant, resource)
    const own = this.#readers.filter((reader) => reader.tenant === tenant)
    for (const reader of own) this.#verifyReader(reader)
    for (const reader of own) reader.leave()
    await this.#world.pause(1000)
    if (this.#readers.every(({ isOver }) => isOver)) await this.#verifyGone(tenant)
  }

  async #verifySeries(tenant: string, resource: string): Promise<void> {
    const range = `from=${BEGINNING - 1}&until=${BEGINNING + 3_600_000}`
    const url = `/resources/${resource}/series/m/raw?${range}&limit=10000`
    const { body } = await this.#world.look({ method: 'GET', url, tenant })
    const { series = [] } = body as { series?: readonly (readonly [number, number])[] }
    const found = new Map(series.map(([time, m]) => [m, time]))
    for (const { m, ackedAt, mayBeThere, timestamp } of this.#of(tenant, resource)) {
      const time = found.get(m)
      found.delete(m)
      const name = `message ${m} of ${tenant} ${resource}`
      if (time === undefined && ackedAt !== undefined)
        this.#world.find('acknowledged is kept', `${name} was acknowledged, and is not in its series`)
      if (time !== undefined && (!mayBeThere || time !== timestamp))
        this.#world.find('nothing else is there', `${name} is in its series at ${time}`)
    }
    for (const m of found.keys())
      this.#world.find('nothing else is there', `the series of ${tenant} ${resource} has ${m}, which nobody sent`)
  }

  #of(tenant: string, resource: string): readonly StreamMessage[] {
    return this.#sent.filter((one) => one.tenant === tenant && (resource === '*' || one.resource === resource))
  }

  #verifyReader(reader: StreamReader): void {
    const sent = new Map(this.#of(reader.tenant, reader.resource).map((one) => [one.m, one]))
    const find = (text: string): void => this.#world.find('a stream has no hole', `${reader.name}: ${text}`)
    const times = new Map<number, number>()
    for (const { m } of reader.heard) times.set(m, (times.get(m) ?? 0) + 1)
    for (const [m, count] of times) {
      const most = sent.get(m)?.attempts ?? 0
      if (sent.get(m)?.mayBeThere !== true) find(`it read ${m}, which nobody sent there`)
      else if (count > most) find(`it read ${m} ${count} times; it was sent ${most} times`)
    }
    for (const stretch of reader.stretches) {
      const heard = stretch.heard
      const lacking = [...sent.values()].filter(({ m, sentAt = 0, ackedAt = Infinity }) => {
        const isDue = sentAt >= stretch.from && ackedAt <= (stretch.until ?? this.#world.now) - UNDER_WAY_MS
        return isDue && !heard.includes(m)
      })
      if (reader.reads && lacking.length > stretch.dropped)
        find(`it never read ${lacking.map(({ m }) => m).join(', ')}, and was told of ${stretch.dropped} that it lost`)
      this.#verifyOrder(sent, heard, find)
    }
    this.#verifyLetGo(reader, [...sent.values()])
  }

  /** Checks that messages sent once over one connection are read in order. */
  #verifyOrder(sent: ReadonlyMap<number, StreamMessage>, heard: readonly number[], find: (text: string) => void): void {
    const last = new Map<number, number>()
    for (const m of heard) {
      const { burst = 0, attempts = 0 } = sent.get(m) ?? {}
      const before = last.get(burst) ?? -1
      if (attempts === 1 && m < before && sent.get(before)?.attempts === 1) find(`it read ${m} after ${before}`)
      last.set(burst, Math.max(before, m))
    }
  }

  /** Checks that a reader that never reads is disconnected. */
  #verifyLetGo(reader: StreamReader, sent: readonly StreamMessage[]): void {
    const stretch = reader.stretches.at(-1)
    if (reader.reads || reader.way !== 'socket' || stretch === undefined || stretch.until !== undefined) return
    const waiting = sent.filter(({ sentAt = 0, ackedAt = Infinity }) => {
      return sentAt >= stretch.from && ackedAt <= this.#world.now - STUCK_MS
    })
    const bytes = waiting.reduce((sum, { bytes: size = 0 }) => sum + size, 0)
    if (bytes > MOST_WAITING)
      this.#world.find('every queue is bounded', `${reader.name} takes nothing, and ${bytes} bytes wait for it`)
  }

  /** Checks that the host keeps no reader after all have left. */
  async #verifyGone(tenant: string): Promise<void> {
    const { body } = await this.#world.look({ method: 'GET', url: '/metrics', tenant })
    const open = /queue="broker-streams"\} (\d+)/.exec(String(body))?.[1]
    if (open !== '0') this.#world.find('memory returns', `${open} readers of messages are left`)
  }
}
