/** A task whose state outgrows what is stored of one: what was acknowledged is kept all the same, and the host says so. */
import type { FastifyInstance } from 'fastify'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createApp } from '../../src/host/app.ts'
import { compose } from '../../src/host/compose.ts'
import { readConfig } from '../../src/host/config.ts'
import { makeRulesWith } from '../../src/host/wiring/make-rules.ts'
import { definePlug } from '../../src/index.ts'
import { MARK_ID, MARKS } from '../../src/log/log-pruner.ts'
import { LOG } from '../../src/log/message-entry.ts'
import { STATES, type StateRecord } from '../../src/services/rules/durable/records.ts'
import type { Storage } from '../../src/storage/contract.ts'
import { MemoryDisk } from '../../src/storage/memory/memory-disk.ts'
import { openMemory } from '../../src/storage/memory/open-memory.ts'
import { basic } from './sample-host.ts'

/** Keeps all texts that it has seen, until it is told to forget them. */
const HOARD = definePlug({
  name: 'hoard',
  version: '1.0.0',
  kind: 'sensor',
  states: ['SEEN'],
  execute: (context) => {
    const before = Array.isArray(context.internalState) ? (context.internalState as string[]) : []
    const kept = context.streamValue('forget') === true ? [] : [...before, String(context.streamValue('text'))]
    return { state: 'SEEN', internalState: kept, rawData: { count: kept.length } }
  },
})

const MAX_LENGTH = 1_500_000
const TEXT = 'x'.repeat(100_000)
const MINUTE = 60_000
const headers = { authorization: basic('a', 's') }

/** A host over a disk that outlives it, with a clock that stands. */
class Host {
  readonly app: FastifyInstance
  readonly log: string[]
  readonly #storage: Storage

  private constructor(app: FastifyInstance, log: string[], storage: Storage) {
    this.app = app
    this.log = log
    this.#storage = storage
  }

  static async open(disk: MemoryDisk, clock: { now: number }): Promise<Host> {
    const checkpoints = { inputMs: 1, soonMs: 1, maxLength: MAX_LENGTH }
    const log: string[] = []
    const services = new Map([
      ['rules', (parts: Parameters<typeof makeRulesWith>[1]) => makeRulesWith([HOARD], parts, checkpoints)],
    ])
    const config = readConfig({ store: 'memory:', empty: true, rateLimit: '0' }, {}, ['rules'])
    const storage = openMemory({ disk })
    const making = { services, now: () => clock.now, openStorage: async () => storage, hashCost: 2 }
    const composed = await compose(config, making)
    if ((await composed.keyPairs.list()).length === 0)
      await composed.keyPairs.add({ key: 'a', secret: 's', tenant: 'acme' })
    const stream = { write: (line: string) => void log.push(line) }
    return new Host(await createApp({ ...composed, log: { level: 'error', stream } }), log, storage)
  }

  /** Positions of the log of inputs, the first and the last that is there. */
  logged() {
    return this.#storage.tenant('acme').log(LOG).bounds(0)
  }

  /** The moment that the last round of states reflects. */
  async roundsUntil(): Promise<number | undefined> {
    return (await this.#storage.tenant('acme').collection(MARKS).get(MARK_ID))?.value.time
  }

  async stored(id: string): Promise<StateRecord | undefined> {
    return (await this.#storage.tenant('acme').collection(STATES).get(id))?.value
  }

  async post(url: string, payload: object): Promise<Record<string, unknown>> {
    const answer = await this.app.inject({ method: 'POST', url, headers, payload })
    if (answer.statusCode >= 300) throw new Error(`${url} was answered with ${answer.body}`)
    return answer.json()
  }

  async send(values: Readonly<Record<string, unknown>>): Promise<void> {
    const data = Object.entries(values).map(([parameterName, value]) => ({ parameterName, value }))
    await this.post('/api/data', { resource: 'boiler', data })
  }

  async countOf(id: string): Promise<unknown> {
    const answer = await this.app.inject({ url: `/api/tasks/${id}/nodes/s`, headers })
    return answer.json<{ rawData: { count: number } }>().rawData.count
  }

  async health(more: object = {}): Promise<unknown> {
    const answer = await this.app.inject({ url: '/health', ...more })
    return { code: answer.statusCode, ...answer.json<object>() }
  }
}

describe('a state above the bound', () => {
  const disk = new MemoryDisk()
  const clock = { now: Date.UTC(2026, 10, 22) }
  let host: Host
  let id: string
  beforeEach(async () => {
    host = await Host.open(disk, clock)
    const rule = { sensors: [{ label: 's', name: 'hoard', resource: '$' }] }
    const task = { name: 'hoarder', type: 'reactive', resource: 'boiler', start: true }
    id = String((await host.post('/api/tasks', { ...rule, task }))['ID'])
  })
  afterEach(() => host.app.close())

  it('keeps the log of inputs, has /health name its task, and recovers when the state shrinks', async () => {
    for (let i = 0; i < 10; i++) await host.send({ text: `${i}${TEXT}` })
    // a round of states is through, and the log is needed no more
    clock.now += 2 * MINUTE
    await host.send({ text: 'small' })
    await expect.poll(async () => (await host.logged()).first).toBeGreaterThan(8)
    expect(await host.health()).toEqual({ code: 200, status: 'ok' })

    for (let i = 0; i < 10; i++) await host.send({ text: `${i}${TEXT}` })
    const name = `the state of task ${id} "hoarder" of acme is not stored`
    const failing = { code: 503, status: 'failing', troubles: [expect.stringContaining(name)] }
    await expect.poll(() => host.health()).toEqual(failing)
    // on a busy machine a round of states comes before all messages
    const troubles = [expect.stringMatching(/has [12]\d{6} characters, above 1\.5 million characters$/)]
    expect(await host.health()).toMatchObject({ troubles })
    // whoever is elsewhere is not told whose tasks there are
    expect(await host.health({ remoteAddress: '10.0.0.1' })).toEqual({ code: 503, status: 'failing' })
    expect(await host.health({ headers: { 'x-forwarded-for': '10.0.0.1' } })).not.toHaveProperty('troubles')
    expect(host.log.join('')).toContain(`the state of task ${id} cannot be stored, the log is kept for it`)

    // rounds go by, and nothing goes of the log that the stored state does not reflect
    for (let i = 0; i < 3; i++) {
      clock.now += 2 * MINUTE
      await host.send({ text: `${i}${TEXT}` })
      await expect.poll(() => host.roundsUntil()).toBe(clock.now)
    }
    const kept = await host.logged()
    const position = (await host.stored(id))?.position ?? Number.NaN
    expect(kept.first).toBeLessThanOrEqual(position + 1)
    expect(kept.last - position).toBeGreaterThan(5)

    // another process makes the state up from the log
    await host.app.close()
    host = await Host.open(disk, clock)
    await host.app.ready()
    expect(await host.countOf(id)).toBe(24)
    await host.send({ text: 'one more' })
    await expect.poll(() => host.health()).toEqual(failing)

    await host.send({ forget: true })
    await expect.poll(() => host.health()).toEqual({ code: 200, status: 'ok' })
    clock.now += 2 * MINUTE
    await host.send({ text: 'again' })
    await expect.poll(async () => (await host.logged()).first).toBeGreaterThan(kept.last)
    await host.app.close()
    host = await Host.open(disk, clock)
    await host.app.ready()
    expect(await host.countOf(id)).toBe(1)
    expect(await host.health()).toEqual({ code: 200, status: 'ok' })
  })
})
