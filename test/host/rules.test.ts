/** The rules service inside the whole frame: credentials, errors, the API page. */
import type { FastifyInstance } from 'fastify'
import { describe, expect, it } from 'vitest'
import { createApp } from '../../src/host/app.ts'
import { compose } from '../../src/host/compose.ts'
import { readConfig } from '../../src/host/config.ts'
import { hostedRules } from '../../src/host/wiring/rules.ts'
import type { MakeService } from '../../src/host/wiring/service-dependencies.ts'
import { createRulesService } from '../../src/services/rules/service.ts'
import { BareRunner } from '../services/rules/support/bare-runner.ts'
import { PLUGS } from '../services/rules/support/rules.ts'
import { basic } from './sample-host.ts'

const NOW = Date.UTC(2026, 0, 1)

const makeRules: MakeService = ({ storage, gauges, now }) => {
  const runner = new BareRunner({ plugs: PLUGS })
  let id = 0
  const service = createRulesService({ storage, runner, plugs: () => PLUGS, now, newId: () => `id-${++id}` })
  return hostedRules(service, runner, gauges)
}

async function rulesHost(): Promise<FastifyInstance> {
  const services = new Map([['rules', makeRules]])
  const config = readConfig({ store: 'memory:' }, {}, ['rules'])
  const composed = await compose(config, { services, now: () => NOW, hashCost: 2 })
  await composed.keyPairs.add({ key: 'a', secret: 's', tenant: 'acme' })
  await composed.keyPairs.add({ key: 'b', secret: 's', tenant: 'other' })
  return createApp({ ...composed, log: { level: 'silent', stream: { write: () => {} } } })
}
const as = (key: string) => ({ authorization: basic(key, 's') })
const rule = {
  sensors: [{ label: 'hot', name: 'heat', resource: '$', properties: { limit: 90 } }],
  actuators: [{ label: 'alarm', name: 'say', properties: { text: 'hot' } }],
  triggers: [{ sourceLabel: 'hot', destinationLabel: 'alarm', statesTrigger: ['HOT'] }],
  task: { name: 'hot', type: 'reactive', resource: 'boiler-1', start: false },
}

describe('the rules service in the frame', () => {
  it('keeps the tasks of tenants apart', async () => {
    await using app = await rulesHost()
    const made = await app.inject({ method: 'POST', url: '/api/tasks', headers: as('a'), payload: rule })
    expect(made.statusCode, made.body).toBe(201)
    const { ID } = made.json<{ ID: string }>()
    const seen = async (key: string) => (await app.inject({ url: `/api/tasks/${ID}`, headers: as(key) })).statusCode
    expect([await seen('a'), await seen('b')]).toEqual([200, 404])
  })

  it('answers in its own words, also what the frame refuses', async () => {
    await using app = await rulesHost()
    const missing = await app.inject({ url: '/api/tasks/none', headers: as('a') })
    expect(missing.json()).toEqual({ statusCode: 404, error: 'Task with id none not found', code: 'NOT_FOUND' })
    const stranger = await app.inject({ url: '/api/tasks' })
    expect([stranger.statusCode, stranger.json()]).toEqual([401, expect.objectContaining({ statusCode: 401 })])
    const broken = await app.inject({
      method: 'POST',
      url: '/api/tasks',
      headers: { ...as('a'), 'content-type': 'application/json' },
      payload: '{"name"',
    })
    expect(broken.json()).toMatchObject({ statusCode: 400, code: 'NOT_JSON' })
    const wrong = await app.inject({ method: 'PUT', url: '/api/tasks', headers: as('a') })
    expect(wrong.json()).toMatchObject({ statusCode: 405, code: 'METHOD' })
  })
})
