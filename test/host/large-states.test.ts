/**
 * Tests a task whose state grows too large to be stored: acknowledged inputs are kept, and the host reports the
 * problem.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makeRulesWith } from '../../src/host/wiring/make-rules.ts'
import { definePlug } from '../../src/index.ts'
import { MARK_ID, MARKS } from '../../src/log/log-pruner.ts'
import { LOG_NAME } from '../../src/log/message-entry.ts'
import { STATES, type StateRecord } from '../../src/services/rules/durable/records.ts'
import type { Storage } from '../../src/storage/contract.ts'
import { MemoryDisk } from '../../src/storage/memory/memory-disk.ts'
import { openMemory } from '../../src/storage/memory/open-memory.ts'
import { wholeHost, type WholeHost } from './whole-host.ts'

/** Keeps all texts that it has seen, until a message makes it forget them. */
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

describe('a state above the bound', () => {
  // the disk survives the hosts, and the clock only moves by hand
  const disk = new MemoryDisk()
  const clock = { now: Date.UTC(2026, 10, 22) }
  let storage: Storage
  let host: WholeHost
  let id: string
  async function open(): Promise<void> {
    storage = openMemory({ disk })
    const checkpoints = { inputMs: 1, soonMs: 1, maxLength: MAX_LENGTH }
    const rules = (parts: Parameters<typeof makeRulesWith>[1]) => makeRulesWith([HOARD], parts, checkpoints)
    const making = { services: new Map([['rules', rules]]), now: () => clock.now, openStorage: async () => storage }
    host = await wholeHost({ empty: true, rateLimit: '0', keepInputs: '0' }, making)
  }
  beforeEach(async () => {
    await open()
    const rule = { sensors: [{ label: 's', name: 'hoard', resource: '$' }] }
    const task = { name: 'hoarder', type: 'reactive', resource: 'boiler', start: true }
    id = (await host.done<{ ID: string }>('POST', '/api/tasks', { ...rule, task })).ID
  })
  afterEach(() => host.app.close())

  /** Returns the first and last positions in the log of inputs. */
  const logged = () => storage.tenant('acme').log(LOG_NAME).bounds()
  /** Returns the time that the last checkpoint reflects. */
  const roundsUntil = async () => (await storage.tenant('acme').collection(MARKS).get(MARK_ID))?.value.time
  const stored = async (): Promise<StateRecord | undefined> =>
    (await storage.tenant('acme').collection(STATES).get(id))?.value
  const send = (values: Readonly<Record<string, unknown>>) => {
    const data = Object.entries(values).map(([parameterName, value]) => ({ parameterName, value }))
    return host.done('POST', '/api/data', { resource: 'boiler', data })
  }
  const count = async () =>
    (await host.done<{ rawData: { count: number } }>('GET', `/api/tasks/${id}/nodes/s`)).rawData.count
  async function health(more: object = {}): Promise<unknown> {
    const answer = await host.app.inject({ url: '/health', ...more })
    return { code: answer.statusCode, ...answer.json<object>() }
  }

  it('keeps the log of inputs, has /health name its task, and recovers when the state shrinks', async () => {
    for (let i = 0; i < 10; i++) await send({ text: `${i}${TEXT}` })
    // a checkpoint completes, so that the log can be trimmed
    clock.now += 2 * MINUTE
    await send({ text: 'small' })
    await expect.poll(async () => (await logged()).first).toBeGreaterThan(8)
    expect(await health()).toEqual({ code: 200, status: 'ok' })

    for (let i = 0; i < 10; i++) await send({ text: `${i}${TEXT}` })
    const name = `tenant acme: the state of task ${id} "hoarder" is not stored`
    const failing = { code: 503, status: 'failing', troubles: [expect.stringContaining(name)] }
    await expect.poll(() => health()).toEqual(failing)
    // on a busy machine a checkpoint may be written before all messages
    const troubles = [expect.stringMatching(/has [12]\d{6} characters, more than 1\.5 million characters$/)]
    expect(await health()).toMatchObject({ troubles })
    // other machines must not learn which tasks exist
    expect(await health({ remoteAddress: '10.0.0.1' })).toEqual({ code: 503, status: 'failing' })
    expect(await health({ headers: { 'x-forwarded-for': '10.0.0.1' } })).not.toHaveProperty('troubles')
    expect(host.log.join('')).toContain(`the state of task ${id} cannot be stored, the log is kept for it`)

    // checkpoints pass, but no log entry newer than the stored state is removed
    for (let i = 0; i < 3; i++) {
      clock.now += 2 * MINUTE
      await send({ text: `${i}${TEXT}` })
      await expect.poll(roundsUntil).toBe(clock.now)
    }
    const kept = await logged()
    const position = (await stored())?.position ?? Number.NaN
    expect(kept.first).toBeLessThanOrEqual(position + 1)
    expect(kept.last - position).toBeGreaterThan(5)

    // another process rebuilds the state from the log
    await host.app.close()
    await open()
    await host.app.ready()
    expect(await count()).toBe(24)
    await send({ text: 'one more' })
    await expect.poll(() => health()).toEqual(failing)

    await send({ forget: true })
    await expect.poll(() => health()).toEqual({ code: 200, status: 'ok' })
    clock.now += 2 * MINUTE
    await send({ text: 'again' })
    await expect.poll(async () => (await logged()).first).toBeGreaterThan(kept.last)
    await host.app.close()
    await open()
    await host.app.ready()
    expect(await count()).toBe(1)
    expect(await health()).toEqual({ code: 200, status: 'ok' })
  })
})
