/** What a `device` key may do over HTTP, WebSocket, streams, MQTT and converters: nothing but its own. */
import { once } from 'node:events'
import { connectAsync, type MqttClient } from 'mqtt'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import type { KeyResources, Scope } from '../../../src/kernel/rights.ts'
import { listeningHost, type ListeningHost } from '../listening-host.ts'
import { basic } from '../sample-host.ts'

interface Pair {
  readonly key: string
  readonly secret: string
}
type Sent = readonly [status: number, body: Readonly<Record<string, unknown>>]

let host: ListeningHost
beforeAll(async () => {
  host = await listeningHost({ mqtt: 0 })
  await host.client.resources.types.create({ id: 'pump', name: 'Pumps' })
  await host.client.resources.resources.create({ id: 'pump-1', resourceTypeId: 'pump' })
})
afterAll(() => host.stop())

async function send({ key, secret }: Pair, method: string, path: string, body?: unknown): Promise<Sent> {
  const headers = {
    authorization: basic(key, secret),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  }
  const answer = await fetch(host.url + path, {
    method,
    headers,
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await answer.text()
  return [answer.status, text === '' ? {} : (JSON.parse(text) as Sent[1])]
}

async function pairWith(scopes: readonly Scope[], resources?: KeyResources): Promise<Pair> {
  const { key, secret } = host.credentials
  const [status, body] = await send({ key, secret }, 'POST', '/auth/v1/keys', {
    scopes,
    ...(resources && { resources }),
  })
  expect(status).toBe(201)
  return body as unknown as Pair
}

/** Returns the status of an upgrade: 101 for an open socket. */
async function upgraded({ key, secret }: Pair, path: string): Promise<number> {
  const socket = new WebSocket(host.url.replace('http', 'ws') + path, {
    headers: { authorization: basic(key, secret) },
  })
  const open = once(socket, 'open').then(() => 101)
  const refused = once(socket, 'unexpected-response').then(([, { statusCode }]) => statusCode as number)
  socket.on('error', () => undefined)
  const status = await Promise.race([open, refused])
  socket.terminate()
  return status
}

const mqttOf = ({ key, secret }: Pair, more: object = {}): Promise<MqttClient> =>
  connectAsync(host.mqtt, { username: key, password: secret, protocolVersion: 5, reconnectPeriod: 0, ...more })

const NOT_AUTHORIZED = 0x87

describe.each<[string, KeyResources, string]>([
  ['named resources', { ids: ['boiler-1', 'boiler-2'] }, 'boiler-1'],
  ['a prefix', { prefix: 'boiler-' }, 'boiler-7'],
  ['a resource type', { resourceTypeId: 'pump' }, 'pump-1'],
])('a device key of %s', (_, resources, own) => {
  let pair: Pair
  beforeAll(async () => {
    pair = await pairWith(['device'], resources)
  })

  it('publishes to its resources over HTTP, not to others', async () => {
    expect(await send(pair, 'POST', `/resources/${own}/events`, { t: 1 })).toMatchObject([200, {}])
    const [status, { error }] = await send(pair, 'POST', '/resources/other/events', { t: 1 })
    expect([status, error]).toEqual([
      403,
      expect.stringMatching(/^"other" is not a resource of this key; name one of /),
    ])
  })

  it('publishes only arrays of its own messages: the position of each foreign message is reported', async () => {
    const [status, body] = await send(pair, 'POST', '/messages', [
      { resource: own, t: 1 },
      { resource: 'other', t: 2 },
      { resource: own, t: 3 },
      { resource: 'another', t: 4 },
    ])
    expect([status, body['details']]).toEqual([
      403,
      [expect.stringMatching(/^\/1\/resource <- "other"/), expect.stringMatching(/^\/3\/resource <- "another"/)],
    ])
    await expect(host.client.broker.messages.current('other')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('reads the commands of its resources, and no data', async () => {
    expect(await send(pair, 'GET', `/resources/${own}/commands`)).toMatchObject([200, []])
    expect(await send(pair, 'GET', '/resources/other/commands')).toMatchObject([403, {}])
    expect(await send(pair, 'GET', `/resources/${own}/current`)).toMatchObject([
      403,
      { error: 'The scope read is missing; these credentials have device. Use a key with this scope' },
    ])
    expect((await send(pair, 'POST', `/resources/${own}/commands`, { name: 'stop' }))[0]).toBe(403)
  })

  it('opens the sockets of its resources', async () => {
    expect(await upgraded(pair, `/resources/${own}/events`)).toBe(101)
    expect(await upgraded(pair, `/resources/${own}/commands/subscribe`)).toBe(101)
    expect(await upgraded(pair, `/resources/${own}/events/subscribe`)).toBe(403)
    expect(await upgraded(pair, `/resources/${own}/commands/publish`)).toBe(403)
  })

  it('publishes and subscribes over MQTT to its own only', async () => {
    const device = await mqttOf(pair)
    try {
      await device.publishAsync(`resources/${own}/events`, '{"t":5}', { qos: 1 })
      expect(await host.client.broker.messages.current(own)).toMatchObject({ t: 5 })
      for (const topic of ['resources/other/events', `resources/${own}/commands`]) {
        await expect(device.publishAsync(topic, '{"name":"x"}', { qos: 1 }), topic).rejects.toMatchObject({
          code: NOT_AUTHORIZED,
        })
      }
      const list = JSON.stringify([
        { resource: own, t: 6 },
        { resource: 'other', t: 6 },
      ])
      await expect(device.publishAsync('messages', list, { qos: 1 })).rejects.toMatchObject({ code: NOT_AUTHORIZED })
      const commands = new Promise((resolve) => device.once('message', (_topic, payload) => resolve(String(payload))))
      await device.subscribeAsync([`resources/${own}/commands`, 'errors'], { qos: 1 })
      for (const filter of ['resources/other/commands', `resources/${own}/events`, '#']) {
        await expect(device.subscribeAsync(filter, { qos: 1 }), filter).rejects.toThrow('Not authorized')
      }
      await host.client.broker.posting.command(own, { name: 'stop' })
      expect(await commands).toContain('"name":"stop"')
    } finally {
      await device.endAsync(true)
    }
  })
})

it('a will that the key may not publish is rejected at the connection', async () => {
  const will = { topic: 'resources/other/commands', payload: Buffer.from('{"name":"x"}') }
  await expect(mqttOf(await pairWith(['device'], { prefix: 'boiler-' }), { will })).rejects.toMatchObject({
    code: NOT_AUTHORIZED,
  })
})

it('a converter forwards payloads of a device only to resources of its key', async () => {
  const template = '{"metrics": [{"resource": "$payload.r", "t": 1}], "metadata": [{"resource": "$payload.m", "a": 1}]}'
  await host.client.converter.put('any', { type: 'velocity', template, mqtt: { topic: 'gw/+' } })
  const pair = await pairWith(['device'], { prefix: 'boiler-' })
  const ingest = (r: string, m: string) => send(pair, 'POST', '/converter/any/ingest', { r, m })
  expect(await ingest('boiler-1', 'boiler-1')).toMatchObject([200, {}])
  expect(await ingest('other', 'boiler-1')).toMatchObject([403, {}])
  expect(await ingest('boiler-1', 'other')).toMatchObject([403, {}])
  const device = await mqttOf(pair)
  await expect(device.publishAsync('gw/a', '{"r":"other","m":"boiler-1"}', { qos: 1 })).rejects.toMatchObject({
    code: NOT_AUTHORIZED,
  })
  await device.endAsync(true)
})

describe('a socket', () => {
  const PATHS = [
    'resources/r/events',
    'resources/r/commands',
    'resources/r/events/subscribe',
    'resources/r/events/publish',
    'resources/r/commands/subscribe',
    'resources/r/commands/publish',
    'resources/r/socket',
    'socket',
  ]
  it.each<[Scope, readonly string[]]>([
    ['device', [PATHS[0], PATHS[1], PATHS[3], PATHS[4], PATHS[7]].map(String)],
    ['read', [PATHS[1], PATHS[2], PATHS[4], PATHS[6]].map(String)],
    ['operate', [PATHS[1], PATHS[2], PATHS[4], PATHS[5], PATHS[6]].map(String)],
    ['author', [PATHS[1], PATHS[2], PATHS[4], PATHS[6]].map(String)],
    ['publish', [PATHS[1], PATHS[2], PATHS[4], PATHS[6]].map(String)],
    ['admin', PATHS],
  ])('opens to a key with %s where the scope covers what passes through it', async (scope, expected) => {
    const pair = await pairWith([scope])
    const open: string[] = []
    for (const path of PATHS) if ((await upgraded(pair, `/${path}`)) === 101) open.push(path)
    expect(open).toEqual(expected)
  })
})

describe('a topic', () => {
  const PUBLISHED = ['messages', 'resources/r/events', 'resources/r/commands', 'some/other'] as const
  const FILTERS = ['errors', 'resources/r/events', 'resources/r/commands', 'resources/+/events', '#'] as const
  const CONVERTED = 'some/other'
  beforeAll(() =>
    host.client.converter.put('topics', {
      type: 'velocity',
      template: '{"metrics": [{"resource": "r", "t": 1}]}',
      mqtt: { topic: CONVERTED },
    }),
  )
  it.each<[Scope, readonly string[]]>([
    ['device', ['messages', 'resources/r/events', CONVERTED, 'errors?', 'resources/r/commands?']],
    ['read', FILTERS.map((filter) => `${filter}?`)],
    ['operate', ['resources/r/commands', ...FILTERS.map((filter) => `${filter}?`)]],
    ['author', FILTERS.map((filter) => `${filter}?`)],
    ['publish', FILTERS.map((filter) => `${filter}?`)],
    ['admin', [...PUBLISHED, ...FILTERS.map((filter) => `${filter}?`)]],
  ])('is open to a key with %s by its scope (? is a subscription)', async (scope, expected) => {
    const client = await mqttOf(await pairWith([scope]))
    const open: string[] = []
    for (const topic of PUBLISHED) {
      const payload = topic === 'messages' ? '[{"resource":"r","t":1}]' : '{"name":"n","t":1}'
      await client.publishAsync(topic, payload, { qos: 1 }).then(
        () => open.push(topic),
        (error: unknown) => expect(error, topic).toMatchObject({ code: NOT_AUTHORIZED }),
      )
    }
    for (const filter of FILTERS) {
      await client.subscribeAsync(filter, { qos: 0 }).then(
        () => open.push(`${filter}?`),
        (error: unknown) => expect(String(error), filter).toContain('Not authorized'),
      )
    }
    await client.endAsync(true)
    expect(open).toEqual(expected)
  })
})

describe('the presence of a device', () => {
  const presenceOf = (id: string) =>
    host.client.resources.resources.get(id).then(
      ({ value }) => value['presence'],
      () => undefined,
    )

  it.each<[string, KeyResources, string]>([
    ['of the only resource of its key', { ids: ['here-1'] }, 'here-1'],
    ['of the resource that its client id names', { prefix: 'here-' }, 'here-2'],
  ])('is an attribute %s', async (_, resources, id) => {
    const pair = await pairWith(['device'], resources)
    const first = await mqttOf(pair, { clientId: id })
    await expect.poll(() => presenceOf(id)).toBe('online')
    // a connection that takes over is not followed by the end of the one before
    const second = await mqttOf(pair, { clientId: id })
    await second.publishAsync(`resources/${id}/events`, '{"t":1}', { qos: 1 })
    expect(await presenceOf(id)).toBe('online')
    second.stream.destroy()
    await expect.poll(() => presenceOf(id)).toBe('offline')
    await first.endAsync(true)
  })

  it('is not recorded for a client id that is not a resource of its key', async () => {
    await host.client.resources.resources.create({ id: 'elsewhere' })
    const device = await mqttOf(await pairWith(['device'], { prefix: 'here-' }), { clientId: 'elsewhere' })
    await device.publishAsync('resources/here-3/events', '{"t":1}', { qos: 1 })
    await device.endAsync()
    expect(await presenceOf('elsewhere')).toBeUndefined()
  })
})
