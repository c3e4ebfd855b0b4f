/** The broker inside the whole host: credentials, tenants, errors, the API page, tasks behind it. */
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import WebSocket from 'ws'
import { createApp } from '../../src/host/app.ts'
import { compose } from '../../src/host/compose.ts'
import { readConfig } from '../../src/host/config.ts'
import { SERVICES } from '../../src/host/wiring/service-table.ts'
import { basic } from './sample-host.ts'
import { ANY_TIME } from '../support/any-time.ts'

let app: FastifyInstance
let url: string

beforeAll(async () => {
  const config = readConfig({ store: 'memory:', empty: true, ...ANY_TIME }, {}, [...SERVICES.keys()])
  const composed = await compose(config, { hashCost: 2 })
  await composed.keyPairs.add({ key: 'a', secret: 's', tenant: 'acme' })
  await composed.keyPairs.add({ key: 'b', secret: 's', tenant: 'other' })
  app = await createApp({ ...composed, log: { level: 'silent', stream: { write: () => {} } } })
  url = await app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(() => app.close())

const as = (key: string) => ({ authorization: basic(key, 's') })

async function post(path: string, payload: object, key = 'a'): Promise<number> {
  return (await app.inject({ method: 'POST', url: path, headers: as(key), payload })).statusCode
}

async function get(path: string, key = 'a'): Promise<unknown> {
  return (await app.inject({ url: path, headers: as(key) })).json()
}

/** How a socket ended or began. */
function upgrade(path: string, headers: Record<string, string> = {}): Promise<number | 'open'> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url.replace('http', 'ws') + path, { headers })
    socket.on('open', () => {
      resolve('open')
      socket.terminate()
    })
    socket.on('unexpected-response', (_request, response) => {
      response.destroy()
      resolve(response.statusCode ?? 0)
    })
    socket.on('error', reject)
  })
}

const watch = {
  sensors: [{ label: 'seen', name: 'invokeCount', resource: '$' }],
  actuators: [{ label: 'told', name: 'log', properties: { message: 'seen' } }],
  triggers: [{ sourceLabel: 'seen', destinationLabel: 'told', statesTrigger: ['Incremented'] }],
}

describe('the broker in the host', () => {
  it('wakes the tasks of a resource that is posted to, unless told not to', async () => {
    const made = await app.inject({
      method: 'POST',
      url: '/api/tasks',
      headers: as('a'),
      payload: { ...watch, task: { name: 'w', type: 'reactive', resource: 'boiler' } },
    })
    expect(made.statusCode, made.body).toBe(201)
    const { ID } = made.json<{ ID: string }>()
    const count = async () => (await get(`/api/tasks/${ID}`)) as { invocationCount: number }
    expect(await post('/resources/boiler/events', { t: 1 })).toBe(200)
    expect(await count()).toMatchObject({ invocationCount: 1 })
    await post('/resources/boiler/events?forward=false', { t: 2 })
    await post('/resources/boiler/events', [{ t: 3 }, { t: 4 }])
    expect(await count()).toMatchObject({ invocationCount: 1 })
    await post('/messages?store=false', [
      { resource: 'boiler', t: 5 },
      { resource: 'pump', t: 6 },
    ])
    expect(await count()).toMatchObject({ invocationCount: 2 })
    expect(await get('/resources/boiler/messages')).toMatchObject([{ t: 2 }, { t: 1 }])
    // another tenant's post is another boiler's
    await post('/resources/boiler/events', { t: 7 }, 'b')
    expect(await count()).toMatchObject({ invocationCount: 2 })
    expect(await get('/resources/boiler/messages', 'b')).toMatchObject([{ t: 7 }])
  })

  it('makes the resource of a message that is stored, and none for one that is not', async () => {
    await post('/resources/new%2Fone/events', { t: 1 })
    expect(await get('/api/resources/new%2Fone')).toMatchObject({ id: 'new/one' })
    await post('/resources/passing/events?store=false', { t: 1 })
    expect(await get('/api/resources/passing')).toMatchObject({ statusCode: 404 })
    expect(Object.keys((await get('/resources/passing/current')) as object)).toEqual(['error'])
    await post('/resources/new%2Fone/events', [
      { t: 2, timestamp: 2 },
      { t: 3, timestamp: 3 },
      { t: 4, timestamp: 4 },
    ])
    expect(await get('/resources/new%2Fone/messages')).toMatchObject([{ t: 1 }])
    expect(await get('/resources/new%2Fone/series/t?from=0&until=9')).toMatchObject({
      series: [
        [2, 2],
        [3, 3],
        [4, 4],
      ],
    })
  })

  it('upgrades with credentials in the header or the query, and with no others', async () => {
    expect(await upgrade('/resources/a/socket')).toBe(401)
    expect(await upgrade('/resources/a/socket?apiKey=a&apiSecret=wrong')).toBe(401)
    expect(await upgrade('/resources/a/socket?apiKey=a&apiSecret=s')).toBe('open')
    expect(await upgrade('/socket', as('a'))).toBe('open')
    expect(await upgrade('/nowhere', as('a'))).toBe(404)
    expect(await upgrade('/api/tasks', as('a'))).toBe(200)
  })

  it('refuses in its own shape, also what the frame refuses', async () => {
    const refused = async (options: object) => {
      const answer = await app.inject({ method: 'POST', url: '/messages', headers: as('a'), ...options })
      return [answer.statusCode, Object.keys(answer.json<object>())]
    }
    const json = { ...as('a'), 'content-type': 'application/json' }
    expect(await refused({ headers: json, payload: '[{"resource"' })).toEqual([400, ['error']])
    expect(await refused({ headers: json, payload: `"${'x'.repeat(2_000_000)}"` })).toEqual([413, ['error']])
    expect(await refused({ headers: { ...as('a'), 'content-type': 'text/plain' }, payload: 'x' })).toEqual([
      415,
      ['error'],
    ])
    expect(await refused({ headers: json, payload: '{"resource":"a","__proto__":1}' })).toEqual([
      400,
      ['error', 'details'],
    ])
    expect(await refused({ headers: {}, payload: {} })).toEqual([401, ['error']])
    expect(await refused({ method: 'PUT' })).toEqual([405, ['error']])
  })

  it('shows what it does at /metrics', async () => {
    const { body } = await app.inject('/metrics')
    expect(body).toMatch(/reflexarc_queue_depth\{queue="broker"\} 0/)
    expect(body).toMatch(/reflexarc_queue_depth\{queue="broker-streams"\} \d/)
    expect(body).toMatch(/reflexarc_things_total\{thing="broker-accepted"\} [1-9]/)
    expect(body).toMatch(/reflexarc_things_total\{thing="broker-dropped"\} 0/)
  })
})
