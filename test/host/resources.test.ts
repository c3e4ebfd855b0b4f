/** The resources service inside the whole frame: credentials, errors, the API page, what the broker finds. */
import type { FastifyInstance } from 'fastify'
import { describe, expect, it } from 'vitest'
import { createApp } from '../../src/host/app.ts'
import { compose } from '../../src/host/compose.ts'
import { readConfig } from '../../src/host/config.ts'
import { SERVICES } from '../../src/host/wiring/service-table.ts'
import { basic } from './sample-host.ts'

async function host(): Promise<FastifyInstance> {
  const config = readConfig({ store: 'memory:' }, {}, [...SERVICES.keys()])
  const composed = await compose(config, { hashCost: 2 })
  await composed.keyPairs.add({ key: 'a', secret: 's', tenant: 'acme' })
  await composed.keyPairs.add({ key: 'b', secret: 's', tenant: 'other' })
  return createApp({ ...composed, log: { level: 'silent', stream: { write: () => {} } } })
}
const as = (key: string) => ({ authorization: basic(key, 's') })

describe('the resources service in the frame', () => {
  it('keeps the resources of tenants apart', async () => {
    await using app = await host()
    const made = await app.inject({ method: 'POST', url: '/api/resources', headers: as('a'), payload: { id: 'r' } })
    expect(made.statusCode, made.body).toBe(201)
    const seen = async (key: string) => (await app.inject({ url: '/api/resources/r', headers: as(key) })).statusCode
    expect([await seen('a'), await seen('b')]).toEqual([200, 404])
  })

  it('answers in its own words, also what the frame refuses', async () => {
    await using app = await host()
    const missing = await app.inject({ url: '/api/resources/none', headers: as('a') })
    expect(missing.json()).toEqual({ statusCode: 404, error: 'No resource with id none', code: 'NOT_FOUND' })
    const stranger = await app.inject({ url: '/api/resources' })
    expect([stranger.statusCode, stranger.json()]).toEqual([401, expect.objectContaining({ statusCode: 401 })])
    const broken = await app.inject({
      method: 'POST',
      url: '/api/resources',
      headers: { ...as('a'), 'content-type': 'application/json' },
      payload: '{"id"',
    })
    expect(broken.json()).toMatchObject({ statusCode: 400, code: 'NOT_JSON' })
    const wrong = await app.inject({ method: 'DELETE', url: '/api/resources', headers: as('a') })
    expect(wrong.json()).toMatchObject({ statusCode: 405, code: 'METHOD' })
  })

  it('has the resources that the broker hears of', async () => {
    await using app = await host()
    const posted = await app.inject({
      method: 'POST',
      url: '/resources/boiler-7/events',
      headers: as('a'),
      payload: { temperature: 90 },
    })
    expect(posted.statusCode, posted.body).toBe(200)
    const found = () => app.inject({ url: '/api/resources/boiler-7', headers: as('a') })
    await expect.poll(async () => Object.keys((await found()).json<object>())).toEqual(['id', 'lastMessageTimestamp'])
  })

  it('deletes with a resource what it is told to', async () => {
    await using app = await host()
    const ask = (method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object) =>
      app.inject({ method, url, headers: as('a'), ...(payload && { payload }) })
    await ask('POST', '/resources/boiler-8/events', { temperature: 90 })
    await expect.poll(async () => (await ask('GET', '/api/resources/boiler-8')).statusCode).toBe(200)
    const alarm = { type: 'HOT', text: 'hot', severity: 'MAJOR', source: { id: 'boiler-8' } }
    expect((await ask('POST', '/alarm/alarms', alarm)).statusCode).toBeLessThan(300)
    const alarms = async () => (await ask('GET', '/alarm/alarms?source=boiler-8')).json<{ total: number }>().total
    expect(await alarms()).toBe(1)
    const gone = await ask('DELETE', '/api/resources/boiler-8?cascade=alarms&cascade=measurements&cascade=tasks')
    expect(gone.statusCode, gone.body).toBe(204)
    await expect.poll(() => alarms()).toBe(0)
    expect((await ask('GET', '/resources/boiler-8/current')).statusCode).toBe(404)
  })
})
