/** Tests the broker in a whole host: credentials, tenants, errors, the API page, and tasks. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import WebSocket from 'ws'
import { basic } from './sample-host.ts'
import { ANY_TIME } from '../support/any-time.ts'
import { wholeHost, type WholeHost } from './whole-host.ts'

let host: WholeHost
let url: string

beforeAll(async () => {
  host = await wholeHost({ empty: true, ...ANY_TIME })
  url = await host.app.listen({ port: 0, host: '127.0.0.1' })
})
afterAll(() => host[Symbol.asyncDispose]())

const as = (key: string) => ({ authorization: basic(key, 's') })

async function post(path: string, payload: object, key = 'acme'): Promise<number> {
  return (await host.send('POST', path, payload, key)).statusCode
}

async function get(path: string, key = 'acme'): Promise<unknown> {
  return (await host.send('GET', path, undefined, key)).json()
}

/** Resolves to the status of a rejected upgrade, or to `open`. */
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
  it('runs the tasks of a posted resource, unless configured otherwise', async () => {
    const task = { name: 'w', type: 'reactive', resource: 'boiler' }
    const made = await host.send('POST', '/api/tasks', { ...watch, task })
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
    // another tenant's resource of the same name is a different resource
    await post('/resources/boiler/events', { t: 7 }, 'umbrella')
    expect(await count()).toMatchObject({ invocationCount: 2 })
    expect(await get('/resources/boiler/messages', 'umbrella')).toMatchObject([{ t: 7 }])
  })

  it('creates the resource of a stored message, but not of one that is not stored', async () => {
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
    expect(await upgrade('/resources/a/socket?apiKey=acme&apiSecret=wrong')).toBe(401)
    expect(await upgrade('/resources/a/socket?apiKey=acme&apiSecret=s')).toBe('open')
    expect(await upgrade('/socket', as('acme'))).toBe('open')
    expect(await upgrade('/nowhere', as('acme'))).toBe(404)
    expect(await upgrade('/api/tasks', as('acme'))).toBe(200)
  })
})
