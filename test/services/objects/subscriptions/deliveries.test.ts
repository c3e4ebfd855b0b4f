/** Tests deliveries of changes: to which subscribers, in which order, and with which retries. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { MAX_STALLS } from '../../../../src/jobs/job-change.ts'
import { deferred } from '../../../support/deferred.ts'
import {
  SECRET,
  START,
  subscriptionOf,
  type SubscriptionsHost,
  SubscriptionsWorld,
  TENANT,
  type Told,
} from './world.ts'

const pathOf = ({ body }: Told): unknown => (body?.['object'] as { readonly name: string } | undefined)?.name
const sizeOf = (body: Told['body']): unknown => (body?.['object'] as { readonly size: number } | undefined)?.size
const headerOf = ({ headers }: Told, name: string): string | undefined => headers.find(([key]) => key === name)?.[1]

let world: SubscriptionsWorld
let host: SubscriptionsHost
beforeEach(async () => {
  world = new SubscriptionsWorld()
  host = await world.host()
})
afterEach(() => host.stop())

// Holds SUBSCRIBE-1 to SUBSCRIBE-5
describe('a change', () => {
  it('is delivered to subscribers, with the object as the API shows it', async () => {
    const payload = { signed_links: ['GET', 'PUT'], reference: { site: 7 } }
    await host.api.create('assets', subscriptionOf({}, { payload, expiry: { hours: 1, seconds: 30 } }))
    await host.put('a/b.txt')
    await host.settled()
    const [told] = world.told
    expect(told?.body).toMatchObject({
      event: 'put',
      event_time: new Date(START).toISOString(),
      reference: { site: 7 },
      tenant: TENANT,
      store: 'files',
      object: {
        name: 'a/b.txt',
        size: 7,
        bucket: { alias: 'assets' },
        metadata: { 'content-type': 'binary/octet-stream' },
        _links: {
          get_object: { href: expect.stringContaining('X-Amz-Expires=3630') as unknown },
          put_object: { method: 'PUT', href: expect.stringContaining('a/b.txt') as unknown },
        },
      },
    })
  })

  it('of a deleted object is marked, and is delivered without a body by GET', async () => {
    await host.api.create('assets', subscriptionOf({ filters: [{ events: ['delete'] }] }))
    await host.api.create('assets', subscriptionOf({ filters: [{ events: ['delete'] }] }, { method: 'GET' }))
    await host.put('x')
    await host.objects.inside.remove('assets', 'x')
    await host.settled()
    const [got, posted] = world.told.toSorted((one, other) => one.method.localeCompare(other.method))
    expect(posted?.body).toMatchObject({ event: 'delete', object: { name: 'x', delete_marker: true } })
    expect(got).toMatchObject({ method: 'GET', body: undefined })
    expect(Object.fromEntries(new URLSearchParams(got?.query))).toMatchObject({
      event: 'delete',
      bucket: 'assets',
      object: 'x',
    })
  })

  it.each<[string, object, readonly string[]]>([
    ['everything that is put', {}, ['a/1.csv', 'a/2.txt', 'b/3.csv']],
    ['a prefix', { prefix: 'a/' }, ['a/1.csv', 'a/2.txt']],
    ['a suffix', { suffix: '.csv' }, ['a/1.csv', 'b/3.csv']],
    ['both', { prefix: 'a/', suffix: '.csv' }, ['a/1.csv']],
    ['removals alone', { events: ['delete'] }, []],
  ])('matches %s, and never hidden objects', async (_, filter, paths) => {
    await host.put('before.csv')
    await host.api.create('assets', subscriptionOf({ filters: [filter] }))
    for (const path of ['a/1.csv', 'a/2.txt', 'b/3.csv', '.hidden.csv']) await host.put(path)
    await host.settled()
    expect(new Set(world.told.map(pathOf))).toEqual(new Set(paths))
    expect(world.told).toHaveLength(paths.length)
    expect(world.heard.map(({ object }) => object.path)).toEqual(['before.csv', 'a/1.csv', 'a/2.txt', 'b/3.csv'])
  })

  it('is retried with growing pauses until it is accepted', async () => {
    const at: number[] = []
    world.answering = () => {
      at.push(world.now - START)
      return at.length < 4 ? 503 : 204
    }
    const { id } = await host.api.create('assets', subscriptionOf())
    await host.put('x')
    await world.advance(60_000, host)
    expect(at).toEqual([0, 1_000, 3_000, 7_000])
    expect(new Set(world.told.map((told) => headerOf(told, 'idempotency-key'))).size).toBe(1)
    expect((await host.api.deliveries('assets', id)).deliveries).toMatchObject([
      { state: 'delivered', attempts: 4, object: 'x', last_error: { status: 503 } },
    ])
  })

  it.each([400, 404, 422, 408, 425, 429])('with status %i is retried only where that may help', async (status) => {
    world.answering = () => status
    const { id } = await host.api.create('assets', subscriptionOf())
    await host.put('x')
    await world.advance(600_000, host)
    const attempts = [408, 425, 429].includes(status) ? 6 : 1
    expect(world.told).toHaveLength(attempts)
    const { deliveries } = await host.api.deliveries('assets', id)
    expect(deliveries).toMatchObject([{ state: 'failed', attempts, last_error: { status } }])
  })

  it('that is never accepted fails after five retries with the last error, and the next one is delivered', async () => {
    world.answering = ({ body }) => (JSON.stringify(body).includes('first') ? 500 : 200)
    const { id } = await host.api.create('assets', subscriptionOf({}, { payload: { signed_links: [] } }))
    await host.put('x', 'first')
    world.answering = (told) => (world.told.indexOf(told) < 6 ? 500 : 200)
    await host.put('x', 'second')
    await world.advance(600_000, host)
    expect(world.told).toHaveLength(7)
    const { deliveries } = await host.api.deliveries('assets', id)
    expect(deliveries).toMatchObject([
      { state: 'delivered', attempts: 1 },
      {
        state: 'failed',
        attempts: 6,
        last_error: { status: 500, message: 'public responded with status 500: what it said' },
      },
    ])
    expect((await host.api.deliveries('assets', id, { state: 'failed' })).deliveries).toHaveLength(1)
    const page = await host.api.deliveries('assets', id, { max_keys: 1 })
    expect(await host.api.deliveries('assets', id, { before: page.next ?? 0 })).toMatchObject({
      deliveries: [{ state: 'failed' }],
    })
  })

  it('of one object waits for earlier ones of that object only', async () => {
    const gate = deferred<number>()
    world.answering = ({ body }) => (sizeOf(body) === 1 ? gate.promise : 200)
    await host.api.create('assets', subscriptionOf())
    await host.put('x', '1')
    await host.put('x', '22')
    await host.put('x', '333')
    await host.put('y', '22')
    const sizes = (): unknown[] => world.told.map(({ body }) => sizeOf(body))
    while (world.told.length < 2) await new Promise((resolve) => setImmediate(resolve))
    expect(sizes()).toEqual([1, 2])
    gate.resolve(200)
    await host.settled()
    expect(sizes()).toEqual([1, 2, 2, 3])
  })

  it('in flight at a crash is delivered again after the next start, once', async () => {
    const gate = deferred<number>()
    world.answering = () => gate.promise
    await host.api.create('assets', subscriptionOf())
    await host.put('x')
    while (world.told.length < 1) await new Promise((resolve) => setImmediate(resolve))
    await host.kill()
    gate.resolve(200)
    world.answering = () => 200
    host = await world.host()
    await host.settled()
    expect(world.told.map(pathOf)).toEqual(['x', 'x'])
    await host.stop()
    host = await world.host()
    await host.settled()
    expect(world.told).toHaveLength(2)
    expect(world.heard).toHaveLength(1)
  })

  it('committed without a reader is forwarded after the next start', async () => {
    await host.api.create('assets', subscriptionOf())
    await host.service.stop()
    await host.put('x')
    await host.kill()
    host = await world.host()
    await host.settled()
    expect(world.told.map(pathOf)).toEqual(['x'])
    expect(world.heard).toHaveLength(1)
  })

  it('that crashes the host repeatedly fails, and the next one is delivered', async () => {
    world.answering = () => new Promise(() => undefined)
    const { id } = await host.api.create('assets', subscriptionOf())
    await host.put('x', '1')
    await host.put('x', '22')
    for (let deaths = 1; deaths <= MAX_STALLS + 1; deaths++) {
      if (deaths > 1) host = await world.host()
      while (world.told.length < deaths) await new Promise((resolve) => setImmediate(resolve))
      await host.kill()
    }
    world.answering = () => 200
    host = await world.host()
    await world.advance(600_000, host)
    expect(world.told).toHaveLength(MAX_STALLS + 2)
    expect((await host.api.deliveries('assets', id)).deliveries).toMatchObject([
      { state: 'delivered' },
      { state: 'failed', last_error: { message: expect.stringContaining('its host died') as unknown } },
    ])
  })

  it('after a thousand queued ones of its object makes the oldest fail', async () => {
    const gate = deferred<number>()
    world.answering = () => gate.promise
    const { id } = await host.api.create('assets', subscriptionOf())
    for (let n = 0; n < 1_003; n++) await host.put('x', `${n}`)
    const key = `assets/${id}/000000000000`
    const waiting = async () =>
      (await host.api.deliveries('assets', id, { state: 'waiting', max_keys: 1_000 })).deliveries
    while ((await waiting()).at(-1)?.id.endsWith('004') !== true) await new Promise((resolve) => setImmediate(resolve))
    expect(await waiting()).toHaveLength(1_000)
    expect((await host.api.deliveries('assets', id, { state: 'failed' })).deliveries).toMatchObject([
      { id: `${key}003`, attempts: 0, last_error: { message: expect.stringContaining('it was dropped') as unknown } },
      { id: `${key}002` },
    ])
    gate.resolve(200)
  })

  it('fails when its subscription is removed', async () => {
    world.answering = () => 500
    const { id } = await host.api.create('assets', subscriptionOf())
    await host.put('x')
    await host.settled()
    await host.api.remove('assets', id)
    await world.advance(600_000, host)
    expect(world.told).toHaveLength(1)
  })
})

describe('a webscript', () => {
  it.each<[string, object, string, number, string | undefined]>([
    ['nothing', { method: 'NONE' }, 'public', 1, undefined],
    ['nothing', { method: 'NONE' }, 'private', 0, undefined],
    ['its secret', { method: 'WEBSCRIPT', secret: SECRET }, 'private', 1, undefined],
    ['another secret', { method: 'WEBSCRIPT', secret: 'wrong' }, 'private', 0, undefined],
    ['a key of its tenant', { method: 'API_KEY', key: TENANT, secret: 'right' }, 'private', 1, undefined],
    ['a key of another tenant', { method: 'API_KEY', key: 'umbrella', secret: 'right' }, 'private', 0, undefined],
    ['a token of its tenant', { method: 'SERVICE_TOKEN', key: TENANT, secret: 'right' }, 'private', 1, undefined],
    [
      'a token of another tenant',
      { method: 'SERVICE_TOKEN', key: 'umbrella', secret: 'right' },
      'private',
      0,
      undefined,
    ],
    ['its own token', { method: 'TOKEN', secret: 'abc' }, 'public', 1, 'Bearer abc'],
    ['a key of its tenant', { method: 'API_KEY', key: TENANT, secret: 'right' }, 'public', 1, undefined],
    ['a token of the host', { method: 'TOKEN', secret: 'of-the-host' }, 'public', 1, undefined],
    ['credentials that it checks itself', { method: 'WEBSCRIPT', secret: 'abc' }, 'public', 1, 'hmac-sha256 abc'],
  ])('receives %s: %j, %s', async (_, authentication, name, calls, authorization) => {
    const { id } = await host.api.create('assets', subscriptionOf({}, { name, authentication }))
    await host.put('x')
    await host.settled()
    expect(world.told).toHaveLength(calls)
    if (calls > 0) expect(headerOf(world.told[0] as Told, 'authorization')).toBe(authorization)
    const { deliveries } = await host.api.deliveries('assets', id)
    expect(deliveries).toMatchObject([{ state: calls > 0 ? 'delivered' : 'active', attempts: 1 }])
  })

  it('that does not exist is called again', async () => {
    const { id } = await host.api.create('assets', subscriptionOf({}, { name: 'none' }))
    await host.put('x')
    await host.settled()
    expect((await host.api.deliveries('assets', id)).deliveries).toMatchObject([
      { state: 'active', attempts: 1, last_error: { message: 'The webscript does not exist' } },
    ])
  })
})
