/** Keys that are made, rotated and removed while the host runs. */
import { once } from 'node:events'
import { connectAsync } from 'mqtt'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { ApiKeys, KEY_RECORDS } from '../../../src/host/auth/api-keys.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { listeningHost, type ListeningHost } from '../listening-host.ts'
import { basic } from '../sample-host.ts'
import { testFolder } from '../../support/test-folder.ts'
import { wholeHost, type WholeHost } from '../whole-host.ts'

interface Pair {
  readonly key: string
  readonly secret: string
}

const START = Date.UTC(2026, 10, 30)
const clock = { now: START }
let host: WholeHost
beforeAll(async () => {
  host = await wholeHost({ rateLimit: '0' }, { now: () => clock.now })
})
afterAll(() => host[Symbol.asyncDispose]())

const statusOf = async ({ key, secret }: Pair, url = '/api/tasks'): Promise<number> =>
  (await host.app.inject({ url, headers: { authorization: basic(key, secret) } })).statusCode
const made = (body: object) => host.done<Pair>('POST', '/auth/v1/keys', body)
const rotated = (key: string, body: object) => host.done<Pair>('POST', `/auth/v1/keys/${key}/rotate`, body)

describe('a key', () => {
  it('is listed without its secret', async () => {
    const { key, secret } = await made({ name: 'north', scopes: ['device'], resources: { prefix: 'boiler-' } })
    const { body } = await host.send('GET', '/auth/v1/keys')
    expect(body).not.toContain(secret)
    const { keys } = JSON.parse(body) as { keys: readonly Pair[] }
    expect(keys.find((one) => one.key === key)).toEqual({
      key,
      tenant: 'acme',
      name: 'north',
      scopes: ['device'],
      resources: { prefix: 'boiler-' },
      createTime: new Date(clock.now).toISOString(),
    })
  })

  it('is not seen, rotated or removed by another tenant', async () => {
    const { key } = await made({ scopes: ['read'] })
    const { body } = await host.send('GET', '/auth/v1/keys', undefined, 'umbrella')
    expect(body).not.toContain(key)
    expect((await host.send('POST', `/auth/v1/keys/${key}/rotate`, {}, 'umbrella')).statusCode).toBe(404)
    expect((await host.send('DELETE', `/auth/v1/keys/${key}`, undefined, 'umbrella')).statusCode).toBe(404)
  })

  it('is invalid from the moment of its removal', async () => {
    const pair = await made({ scopes: ['read'] })
    expect(await statusOf(pair)).toBe(200)
    expect((await host.send('DELETE', `/auth/v1/keys/${pair.key}`)).statusCode).toBe(204)
    expect(await statusOf(pair)).toBe(401)
    expect((await host.send('DELETE', `/auth/v1/keys/${pair.key}`)).statusCode).toBe(404)
  })

  it('expires, and cannot be created with a time in the past', async () => {
    const pair = await made({ scopes: ['read'], expires: clock.now + 10_000 })
    expect(await statusOf(pair)).toBe(200)
    clock.now += 9_999
    expect(await statusOf(pair)).toBe(200)
    clock.now += 1
    expect(await statusOf(pair)).toBe(401)
    const { status, body } = await host.ask('POST', '/auth/v1/keys', { scopes: ['read'], expires: clock.now })
    expect([status, body['error']]).toEqual([400, expect.stringContaining('/expires <- is in the past')])
  })

  it.each<[string, object]>([
    ['no scopes', { name: 'a' }],
    ['an unknown scope', { scopes: ['write'] }],
    ['the scope of provisioning keys', { scopes: ['provision'] }],
    ['resources and another scope', { scopes: ['device', 'read'], resources: { prefix: 'a' } }],
    ['two kinds of resources', { scopes: ['device'], resources: { prefix: 'a', ids: ['b'] } }],
    ['an empty prefix', { scopes: ['device'], resources: { prefix: '' } }],
    ['provisioning and scopes', { provisioning: true, scopes: ['read'] }],
  ])('with %s is rejected', async (_, body) => {
    expect((await host.ask('POST', '/auth/v1/keys', body)).status).toBe(400)
  })
})

describe('a rotation', () => {
  it('replaces the secret at once, unless it has a grace', async () => {
    const old = await made({ scopes: ['read'] })
    expect(await statusOf(old)).toBe(200)
    const fresh = await rotated(old.key, {})
    expect([await statusOf(old), await statusOf(fresh)]).toEqual([401, 200])
  })

  it('leaves both secrets valid for its grace, however often they were used before', async () => {
    const old = await made({ scopes: ['read'] })
    expect(await statusOf(old)).toBe(200)
    const fresh = await rotated(old.key, { graceSeconds: 30 })
    expect([await statusOf(old), await statusOf(fresh)]).toEqual([200, 200])
    clock.now += 29_999
    expect([await statusOf(old), await statusOf(fresh)]).toEqual([200, 200])
    clock.now += 1
    expect([await statusOf(old), await statusOf(fresh)]).toEqual([401, 200])
  })

  it('within a grace leaves two secrets, not three', async () => {
    const first = await made({ scopes: ['read'] })
    const second = await rotated(first.key, { graceSeconds: 600 })
    const third = await rotated(first.key, { graceSeconds: 600 })
    expect([await statusOf(first), await statusOf(second), await statusOf(third)]).toEqual([401, 200, 200])
  })

  it('does not revive an expired secret when the clock is set back later', async () => {
    const records = openMemory().tenant('_host').collection(KEY_RECORDS)
    let now = START
    const keys = new ApiKeys(records, () => now, 2)
    const old = await keys.make({ tenant: 'acme', rights: { scopes: ['read'] } })
    await keys.rotate(old.key, 1_000)
    now += 1_000
    expect(await keys.check(old.key, old.secret)).toBeUndefined()
    now = START
    expect(await keys.check(old.key, old.secret)).toBeUndefined()
  })

  it('keeps one of two concurrent secrets, and rejects the other', async () => {
    const { key } = await made({ scopes: ['read'] })
    const answers = await Promise.all([1, 2].map(() => host.send('POST', `/auth/v1/keys/${key}/rotate`, {})))
    const pairs = answers.filter(({ statusCode }) => statusCode === 201).map((one) => one.json<Pair>())
    expect(pairs).toHaveLength(1)
    for (const pair of pairs) expect(await statusOf(pair)).toBe(200)
  })
})

it('a stored key of the previous format has all rights', async () => {
  const records = openMemory().tenant('_host').collection(KEY_RECORDS)
  const keys = new ApiKeys(records, () => START, 2)
  await keys.add({ key: 'k', secret: 's', tenant: 'acme' })
  const stored = (await records.get('k'))?.value
  if (stored === undefined || !('format' in stored)) throw new Error('the record is not of format 2')
  const { secrets, tenant, createTime } = stored
  const [secret] = secrets
  if (secret === undefined) throw new Error('the record has no secret')
  await records.put('k', { ...secret, tenant, createTime })
  expect(await keys.check('k', 's')).toMatchObject({ rights: { scopes: ['admin'] } })
  await records.put('k', { ...stored, format: 3 })
  await expect(keys.check('k', 's')).rejects.toMatchObject({ code: 'STORE' })
})

it('a key created on SQLite while the host ran exists after a restart', async () => {
  const data = testFolder()
  let pair: Pair
  {
    await using first = await wholeHost({ data })
    pair = await first.done<Pair>('POST', '/auth/v1/keys', { scopes: ['read'] })
  }
  await using second = await wholeHost({ data })
  const { key, secret } = pair
  const { statusCode } = await second.app.inject({ url: '/api/tasks', headers: { authorization: basic(key, secret) } })
  expect(statusCode).toBe(200)
})

describe('open streams', () => {
  let served: ListeningHost
  beforeAll(async () => {
    served = await listeningHost({ mqtt: 0 })
  })
  afterAll(() => served.stop())

  const ask = async (method: string, path: string, body?: object): Promise<Pair> => {
    const { key, secret } = served.credentials
    const headers = { authorization: basic(key, secret), 'content-type': 'application/json' }
    const answer = await fetch(served.url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    expect(answer.ok).toBe(true)
    const text = await answer.text()
    return (text === '' ? {} : JSON.parse(text)) as Pair
  }

  /** Opens a stream, a socket and a connection. `ended` resolves when all have ended. */
  async function opened({ key, secret }: Pair): Promise<{ readonly ended: Promise<readonly unknown[]> }> {
    const authorization = basic(key, secret)
    const accept = 'text/event-stream'
    const stream = await fetch(`${served.url}/resources/r/events`, { headers: { authorization, accept } })
    expect(stream.status).toBe(200)
    const socket = new WebSocket(`${served.url.replace('http', 'ws')}/resources/r/socket`, {
      headers: { authorization },
    })
    socket.on('error', () => undefined)
    await once(socket, 'open')
    const device = await connectAsync(served.mqtt, {
      username: key,
      password: secret,
      protocolVersion: 5,
      reconnectPeriod: 0,
    })
    const left = new Promise((resolve) => device.once('disconnect', ({ reasonCode }) => resolve(reasonCode)))
    const ended = Promise.all([stream.text().catch(() => 'cut'), once(socket, 'close'), left])
    return { ended }
  }

  it('of a key end when it is removed, by all listeners', async () => {
    const pair = await ask('POST', '/auth/v1/keys', { scopes: ['read'] })
    const kept = await ask('POST', '/auth/v1/keys', { scopes: ['read'] })
    let hasEnded = false
    const { ended: keptEnds } = await opened(kept)
    void keptEnds.then(() => (hasEnded = true))
    const { ended } = await opened(pair)
    await ask('DELETE', `/auth/v1/keys/${pair.key}`)
    expect((await ended)[2], 'the reason over MQTT').toBe(0x87)
    expect(hasEnded).toBe(false)
  })
})

describe('a device', () => {
  const enrolled = ({ key, secret }: Pair, body: object) =>
    host.app.inject({
      method: 'POST',
      url: '/auth/v1/devices',
      headers: { authorization: basic(key, secret) },
      payload: body,
    })

  it('enrols itself once, and may then publish its own data', async () => {
    const shipped = await made({ provisioning: true, resources: { prefix: 'meter-' } })
    const answer = await enrolled(shipped, { resource: 'meter-1', name: 'Meter 1' })
    expect(answer.statusCode).toBe(201)
    const { key, secret } = answer.json<Pair>()
    const post = async (resource: string) =>
      (
        await host.app.inject({
          method: 'POST',
          url: `/resources/${resource}/events`,
          headers: { authorization: basic(key, secret) },
          payload: { t: 1 },
        })
      ).statusCode
    expect([await post('meter-1'), await post('meter-2')]).toEqual([200, 403])
    const again = await enrolled(shipped, { resource: 'meter-1' })
    expect([again.statusCode, again.json<{ error: string }>().error]).toEqual([
      409,
      expect.stringMatching(/^"meter-1" is already enrolled with the key device-\w{24}; /),
    ])
    await host.send('DELETE', `/auth/v1/keys/${key}`)
    expect((await enrolled(shipped, { resource: 'meter-1' })).statusCode).toBe(201)
  })

  it('is not enrolled beyond the resources of its provisioning key, which can do nothing else', async () => {
    const shipped = await made({ provisioning: true, resources: { prefix: 'meter-' } })
    expect((await enrolled(shipped, { resource: 'boiler-1' })).statusCode).toBe(403)
    expect(await statusOf(shipped)).toBe(403)
    expect(await statusOf(shipped, '/')).toBe(403)
  })

  it('of a type is enrolled when its resource has the type', async () => {
    await host.done('POST', '/api/resourcetypes', { id: 'valve', name: 'Valves' })
    await host.done('POST', '/api/resources', { id: 'valve-1', resourceTypeId: 'valve' })
    const shipped = await made({ provisioning: true, resources: { resourceTypeId: 'valve' } })
    expect((await enrolled(shipped, { resource: 'valve-1' })).statusCode).toBe(201)
    expect((await enrolled(shipped, { resource: 'valve-2' })).statusCode).toBe(403)
  })

  it('is not enrolled by a key of another kind', async () => {
    const { key, secret } = await made({ scopes: ['publish', 'operate', 'device'] })
    const answer = await enrolled({ key, secret }, { resource: 'meter-3' })
    expect(answer.body).toContain('The scope provision is missing')
  })
})
