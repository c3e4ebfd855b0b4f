/** Rules over slow plugs in the whole host: every message counts, and effects keep their order. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { describe, expect, it } from 'vitest'
import { createApp } from '../../src/host/app.ts'
import { compose } from '../../src/host/compose.ts'
import { readConfig } from '../../src/host/config.ts'
import { makeRulesWith } from '../../src/host/wiring/make-rules.ts'
import { SERVICES } from '../../src/host/wiring/service-table.ts'
import { definePlug, type Rule } from '../../src/index.ts'
import { basic } from './sample-host.ts'

/** Answers after so many turns of the loop as its message says. */
const LOOKUP = definePlug({
  name: 'lookup',
  version: '1.0.0',
  kind: 'sensor',
  states: ['LOW', 'HIGH'],
  parameters: ['temperature'],
  async execute(context) {
    const temperature = Number(context.streamValue('temperature'))
    for (let turns = (temperature * 7) % 5; turns > 0; turns--) {
      await new Promise((resolve) => void setImmediate(resolve))
    }
    return { state: temperature > 50 ? 'HIGH' : 'LOW', rawData: { temperature } }
  },
})

/** Never answers. */
const STUCK = definePlug({
  name: 'stuck',
  version: '1.0.0',
  kind: 'actuator',
  input: { text: { type: 'string' } },
  execute: () => new Promise<undefined>(() => undefined),
})

const headers = { authorization: basic('a', 's') }

/** In memory, or over a folder that outlives it. */
async function host(names: readonly string[], folder?: string): Promise<FastifyInstance> {
  const services = new Map([
    ...SERVICES,
    ['rules', (parts) => makeRulesWith([LOOKUP, STUCK], parts)],
  ] as typeof SERVICES extends ReadonlyMap<infer K, infer V> ? [K, V][] : never)
  const where = folder === undefined ? { store: 'memory:' } : { data: folder }
  const config = readConfig({ ...where, only: names.join(','), empty: true, rateLimit: '0' }, {}, [...services.keys()])
  const composed = await compose(config, { services, hashCost: 2 })
  if ((await composed.keyPairs.list()).length === 0)
    await composed.keyPairs.add({ key: 'a', secret: 's', tenant: 'acme' })
  return createApp({ ...composed, log: { level: 'silent', stream: { write: () => {} } } })
}

async function ask(app: FastifyInstance, method: 'GET' | 'POST', url: string, payload?: object): Promise<unknown> {
  const answer = await app.inject({ method, url, headers, ...(payload && { payload }) })
  expect([url, answer.statusCode < 300, answer.body]).toEqual([url, true, answer.body])
  return answer.json()
}

/** The rule keeps what it fired for as messages of `found`. */
function keeping(sensor: object, state: string, text: string): Rule {
  return {
    sensors: [{ label: 's', name: '', resource: '$', ...sensor }],
    actuators: [{ label: 'keep', name: 'storeMessage', properties: { payload: { was: text } }, resource: 'found' }],
    triggers: [{ sourceLabel: 's', destinationLabel: 'keep', statesTrigger: [state] }],
    task: { name: 'keeping', type: 'reactive', resource: 'boiler-1', start: true },
  }
}

async function found(app: FastifyInstance): Promise<unknown[]> {
  const messages = (await ask(app, 'GET', '/resources/found/messages?hits=1000')) as readonly { was: unknown }[]
  return messages.map(({ was }) => was).reverse()
}

describe('of 50 messages, posted one after the other', () => {
  it.each([
    [
      'a query of a metric',
      { name: 'getMetricValue', properties: { metric: 'temperature', aggregate: 'count' } },
      'Collected',
    ],
    [
      'a condition behind the fence',
      { name: 'condition', properties: { condition: 'let t = temperature; return t >= 0' } },
      'True',
    ],
    ['a plug that takes its time', { name: 'lookup' }, 'LOW'],
  ])('%s sees 50', async (_fact, sensor, state) => {
    await using app = await host(['rules', 'broker'])
    await ask(app, 'POST', '/api/tasks', keeping(sensor, state, '${streamdata.temperature}'))
    for (let i = 0; i < 50; i++) await ask(app, 'POST', '/resources/boiler-1/events', { temperature: i })
    await expect.poll(() => found(app)).toHaveLength(50)
    expect(await found(app)).toEqual(Array.from({ length: 50 }, (_, i) => i))
  })
})

describe('calls that wait for one that hangs', () => {
  it('are seen after a restart as before it', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'reflexarc-waiting-'))
    const look = async (app: FastifyInstance, id: string): Promise<unknown> => {
      const { health } = (await ask(app, 'GET', `/api/tasks/${id}?includeHealth=true`)) as { health: unknown }
      const deliveries = (await ask(app, 'GET', `/api/tasks/${id}/deliveries`)) as Record<string, unknown>[]
      const { time: _now, ...why } = (await ask(app, 'GET', `/api/tasks/${id}/explain?node=tell`)) as { time: number }
      const node = await ask(app, 'GET', `/api/tasks/${id}/nodes/tell`)
      // the call that hung is made again
      return { health, node, why, deliveries: deliveries.map((one) => ({ ...one, lastAttemptTime: undefined })) }
    }
    const rule: Rule = {
      sensors: [{ label: 's', name: 'condition', resource: '$', properties: { condition: 'temperature > 50' } }],
      actuators: [{ label: 'tell', name: 'stuck', properties: { text: '${streamdata.temperature}' } }],
      triggers: [{ sourceLabel: 's', destinationLabel: 'tell', statesTrigger: ['True'] }],
      task: { name: 'stuck', type: 'reactive', resource: 'boiler-1', start: true },
    }
    try {
      const before = await host(['rules', 'broker'], folder)
      const { ID: id } = (await ask(before, 'POST', '/api/tasks', rule)) as { ID: string }
      for (let i = 0; i < 5; i++) await ask(before, 'POST', '/resources/boiler-1/events', { temperature: 90 + i })
      const seen = await look(before, id)
      expect(seen).toMatchObject({ health: { waiting: { inputs: 0, effects: 4 } }, deliveries: { length: 5 } })
      await before.close()
      const after = await host(['rules', 'broker'], folder)
      expect(await look(after, id)).toEqual(seen)
      await after.close()
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
