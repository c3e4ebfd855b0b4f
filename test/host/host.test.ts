import type { AddressInfo } from 'node:net'
import { fastify, type FastifyInstance } from 'fastify'
import { describe, expect, it } from 'vitest'
import { host, mountHost, type HostOptions, type KeyPair } from '../../src/host/index.ts'
import { definePlug } from '../../src/plug.ts'
import { sampleService } from './sample-service.ts'
import { basic } from './sample-host.ts'
import { smallStore } from './small-store.ts'

const making = () => {
  const service = sampleService()
  const store = smallStore()
  return { service, store, services: new Map([['sample', () => service]]), openStorage: async () => store, hashCost: 2 }
}
const given = { store: 'memory:', key: 'k', secret: 's' }
const headers = { authorization: basic('k', 's') }

describe('the host on an existing server', () => {
  it('does not affect other routes', async () => {
    await using app = fastify()
    app.decorateRequest('user', '')
    app.addContentTypeParser('text/csv', { parseAs: 'string' }, (_request, body, done) => done(null, body))
    app.post('/mine', ({ body }) => ({ body }))
    app.get('/mine/broken', () => {
      throw new Error('mine')
    })
    const parts = making()
    await app.register((scope, options: HostOptions) => mountHost(scope, options, parts), {
      ...given,
      prefix: '/api-of/reflexarc',
    })
    const at = (url: string) => `/api-of/reflexarc${url}`

    expect(
      (
        await app.inject({ method: 'POST', url: '/mine', payload: 'a', headers: { 'content-type': 'text/csv' } })
      ).json(),
    ).toEqual({ body: 'a' })
    expect(
      (await app.inject({ method: 'POST', url: '/mine', payload: 'a', headers: { 'content-type': 'text/plain' } }))
        .statusCode,
    ).toBe(200)
    expect((await app.inject('/mine/broken')).json()).toMatchObject({ message: 'mine' })
    expect((await app.inject('/nowhere')).json()).toMatchObject({ message: 'Route GET:/nowhere not found' })

    expect((await app.inject(at('/sample/things'))).statusCode).toBe(401)
    expect((await app.inject({ url: at('/sample/things'), headers })).json()).toEqual({ tenant: 'default', user: 'k' })
    expect((await app.inject({ url: at('/nowhere'), headers })).json()).toMatchObject({ code: 'NOT_FOUND' })
    expect((await app.inject({ method: 'PUT', url: at('/sample/things'), headers })).statusCode).toBe(405)
    const described = (await app.inject(at('/docs/json'))).json<{ paths: object }>()
    expect(Object.keys(described.paths)).toContain(at('/sample/things'))
    expect(Object.keys(described.paths)).not.toContain('/mine')
    const seen = await app.inject({ url: at('/'), headers: { accept: 'text/html' } })
    expect([seen.statusCode, seen.headers.location]).toEqual([302, at('/console/')])
  })

  // Holds MOUNT-4
  it('is not mounted with a route that declares no scope', async () => {
    await using app = fastify()
    const { service, ...parts } = making()
    const open = {
      ...service,
      routes: async (own: FastifyInstance) => {
        await service.routes(own)
        own.get('/sample/unscoped', () => ({}))
      },
    }
    const mounted = app.register(
      (scope, options: HostOptions) =>
        mountHost(scope, options, { ...parts, services: new Map([['sample', () => open]]) }),
      given,
    )
    await expect(mounted).rejects.toThrow(
      'Routes of sample declare no scope: GET /sample/unscoped, HEAD /sample/unscoped',
    )
  })

  it.each([
    [{}, 0],
    [{ demo: true }, 20],
  ])('gets demo data only when asked: %j', async (asked, tasks) => {
    await using app = fastify()
    await app.register(host, { ...given, ...asked })
    expect((await app.inject({ url: '/api/tasks?hits=100', headers })).json()).toHaveLength(tasks)
  })

  it('runs twice in one process, independently', async () => {
    await using app = fastify()
    const [one, two] = [making(), making()]
    const mountOf = (parts: typeof one) => (scope: FastifyInstance, options: HostOptions) =>
      mountHost(scope, options, parts)
    await app.register(mountOf(one), { ...given, prefix: '/one', tenant: 'a' })
    await app.register(mountOf(two), { ...given, secret: 'other', prefix: '/two', tenant: 'b' })
    const other = { authorization: basic('k', 'other') }
    const answers = [
      await app.inject({ url: '/one/sample/things', headers }),
      await app.inject({ url: '/two/sample/things', headers }),
      await app.inject({ url: '/two/sample/things', headers: other }),
    ]
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 401, 200])
    expect([answers[0]?.json(), answers[2]?.json()]).toMatchObject([{ tenant: 'a' }, { tenant: 'b' }])
    const counted = 'reflexarc_http_request_seconds_count{method="GET",route="/one/sample/things",status="200"} 1'
    expect((await app.inject('/one/metrics')).body).toContain(counted)
    expect((await app.inject('/two/metrics')).body).not.toContain('/one/')
    const paths = (await app.inject('/two/docs/json')).json<{ paths: object }>().paths
    expect(Object.keys(paths).filter((path) => path.startsWith('/one'))).toEqual([])
  })

  it('returns the first pair that it made to its owner, once', async () => {
    const pairs: KeyPair[] = []
    const parts = making()
    for (const _start of [1, 2]) {
      const app = fastify()
      const options = { store: 'memory:', onFirstPair: (pair: KeyPair) => void pairs.push(pair) }
      await app.register((scope, all: HostOptions) => mountHost(scope, all, parts), options)
      await app.ready()
      const [pair] = pairs
      const asked = { authorization: basic(pair?.key ?? '', pair?.secret ?? '') }
      expect((await app.inject({ url: '/sample/things', headers: asked })).statusCode).toBe(200)
      await app.close()
    }
    expect(pairs).toHaveLength(1)
  })

  it('releases its store when it cannot start', async () => {
    await using app = fastify()
    const parts = making()
    parts.service.start = () => Promise.reject(new Error('no template can be read'))
    const registered = app.register((scope, options: HostOptions) => mountHost(scope, options, parts), given)
    await expect(Promise.resolve(registered)).rejects.toThrow('no template can be read')
    expect([parts.store.closed, parts.service.life]).toEqual([true, ['stop']])
  })

  it('runs the plugs of its owner, and rejects duplicates of its own plugs', async () => {
    const siren = definePlug({
      name: 'siren',
      version: '1.0.0',
      kind: 'actuator',
      execute: ({ task }) => ({ message: `wailing at ${task.RESOURCE}` }),
    })
    await using app = fastify()
    await app.register(host, { ...given, plugs: [siren] })
    const ran = await app.inject({
      method: 'POST',
      url: '/api/actions/siren',
      headers,
      payload: { resource: 'boiler-1' },
    })
    expect([ran.statusCode, ran.body]).toEqual([200, expect.stringContaining('wailing at')])
    const log = definePlug({ name: 'log', version: '1.0.0', kind: 'actuator', execute: () => undefined })
    const twice = Promise.resolve(fastify().register(host, { ...given, plugs: [log] }))
    await expect(twice).rejects.toThrow('the actuator log 1.0.0 is registered twice')
  })

  it('lets callURL reach the private places that are allowed, and no others', async () => {
    await using target = fastify()
    target.get('/', () => 'inside')
    await target.listen({ host: '127.0.0.1', port: 0 })
    const { port } = target.server.address() as AddressInfo
    await using app = fastify()
    await app.register(host, { ...given, prefix: '/open', allowUrl: [`127.0.0.0/8:${port}`] })
    await app.register(host, { ...given, prefix: '/shut' })
    const payload = { properties: { method: 'GET', url: `http://127.0.0.1:${port}/` } }
    const states: unknown[] = []
    for (const prefix of ['/open', '/shut']) {
      const ran = await app.inject({ method: 'POST', url: `${prefix}/api/sensors/callURL`, headers, payload })
      states.push(ran.json<object>())
    }
    expect(states).toMatchObject([
      { rawData: { data: 'inside' } },
      { rawData: { error: expect.stringContaining('not on the public') as string } },
    ])
  })

  it('rejects options with all problems', async () => {
    await using app = fastify()
    const registered = app.register(host, { tenant: '', rateLimit: -1 })
    await expect(Promise.resolve(registered)).rejects.toThrow(/--tenant: .*\nerror: --rate-limit: /)
  })
})
