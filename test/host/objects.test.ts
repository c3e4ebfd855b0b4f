/** Object storage over HTTP, in a whole host. */
import { fastify, type FastifyInstance, type InjectOptions } from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { host } from '../../src/host/index.ts'
import { basic } from './sample-host.ts'

let app: FastifyInstance
beforeAll(async () => {
  app = fastify()
  await app.register(host, { store: 'memory:', key: 'k', secret: 's' })
})
afterAll(() => app.close())

const authorization = basic('k', 's')
const BASE = '/storage/v1'
const ask = ({ headers = {}, ...options }: InjectOptions) =>
  app.inject({ ...options, headers: { authorization, host: 'host.test', ...headers } })
const get = async (url: string) => (await ask({ url: `${BASE}${url}` })).json<Record<string, unknown>>()
const link = (path: string) => ({ href: `http://host.test${BASE}${path}` })

describe('buckets', () => {
  it('are those that every tenant has, with links and their store', async () => {
    const { buckets, _links } = await get('/bucket')
    expect(_links).toEqual({ self: link('/bucket') })
    expect(buckets).toMatchObject([
      { alias: 'assets' },
      { alias: 'etl-export' },
      { alias: 'etl-import' },
      { alias: 'public' },
    ])
    expect((buckets as readonly unknown[])[0]).toEqual({
      _links: {
        self: link('/bucket/assets'),
        list: link('/bucket/assets/'),
        sign_post: link('/bucket/assets/?sign=POST&expiry_seconds=300'),
        subscriptions: link('/subscription/assets'),
        store: { href: 's3://reflexarc-ws-assets-default' },
      },
      alias: 'assets',
      name: 'reflexarc-ws-assets-default',
      store: { type: 'files', name: 'files', url: 'files:' },
    })
    expect(await get('/bucket/?store=files')).toMatchObject({ buckets: expect.any(Array) as unknown[] })
  })

  it('are found by alias and by name, with the name of their store', async () => {
    for (const name of ['etl-export', 'reflexarc-ws-etl-export-default']) {
      const bucket = await get(`/bucket/${name}`)
      expect(bucket).toMatchObject({ alias: 'etl-export', store: 'files' })
      expect(Object.keys(bucket['_links'] as object)).toEqual(['self', 'list', 'store'])
    }
    for (const url of ['/bucket/none', '/bucket?store=none', '/bucket/assets?store=none', '/bucket/none/a?stat=true']) {
      const answer = await ask({ url: `${BASE}${url}` })
      expect([url, answer.statusCode, answer.json()]).toMatchObject([url, 404, { error: expect.any(String) as string }])
    }
  })

  it('are at the paths of a host of their own, too, and for nobody without credentials', async () => {
    expect((await ask({ url: '/bucket/assets' })).json()).toMatchObject({ _links: { self: link('/bucket/assets') } })
    expect((await app.inject({ url: `${BASE}/bucket` })).statusCode).toBe(401)
    const about = await ask({ url: `${BASE}/` })
    expect([about.headers['content-type'], about.body]).toEqual([
      'text/plain; charset=utf-8',
      expect.stringMatching(/^\d+\.\d+\.\d+/),
    ])
  })
})

describe('folders', () => {
  it('are made, shown and removed', async () => {
    const made = await ask({ method: 'PUT', url: `${BASE}/bucket/assets/demo/ü%20b/` })
    const folder = {
      _links: {
        self: link('/bucket/assets/demo/%C3%BC%20b/?stat=true'),
        list: link('/bucket/assets/demo/%C3%BC%20b/'),
        sign_post: link('/bucket/assets/demo/%C3%BC%20b/?sign=POST&expiry_seconds=300'),
        sign_put: link('/bucket/assets/demo/%C3%BC%20b/?sign=PUT&expiry_seconds=300'),
        remove: { ...link('/bucket/assets/demo/%C3%BC%20b/'), method: 'DELETE' },
      },
      bucket: { _links: { self: link('/bucket/assets') }, alias: 'assets', name: 'reflexarc-ws-assets-default' },
      name: 'demo/ü b/',
      etag: '',
      size: 0,
      is_dir: true,
    }
    expect([made.statusCode, made.json()]).toEqual([200, folder])
    expect(await get('/bucket/assets/demo/ü%20b/?stat=true')).toEqual(folder)
    expect(await get('/bucket/assets/demo/')).toEqual({
      _links: {
        self: link('/bucket/assets/demo/'),
        sign_post: link('/bucket/assets/demo/?sign=POST&expiry_seconds=300'),
      },
      objects: [folder],
    })
    expect((await ask({ method: 'DELETE', url: `${BASE}/bucket/assets/demo/` })).statusCode).toBe(409)
    const removed = await ask({ method: 'DELETE', url: `${BASE}/bucket/assets/demo/ü%20b/` })
    expect(removed.json()).toEqual({ _links: { removed: link('/bucket/assets/demo/%C3%BC%20b/') } })
    expect((await ask({ method: 'DELETE', url: `${BASE}/bucket/assets/demo/` })).statusCode).toBe(404)
  })

  it('with a hidden part need all=true', async () => {
    const url = `${BASE}/bucket/assets/a/.git/b/`
    expect((await ask({ method: 'PUT', url })).statusCode).toBe(403)
    expect((await ask({ method: 'PUT', url: `${url}?all=true` })).statusCode).toBe(200)
    expect((await ask({ method: 'DELETE', url: `${BASE}/bucket/assets/a/?recursive=true` })).json()).toMatchObject({
      removed_count: 0,
    })
  })
})

describe('what cannot be read', () => {
  it.each([
    ['GET', '/bucket/assets/a?stat=maybe', '/stat'],
    ['GET', '/bucket/assets/a?max_keys=0', '/max_keys'],
    ['GET', '/bucket/assets/a?sign=HEAD', '/sign'],
    ['GET', '/bucket/assets/a?sign=GET&expiry_days=7&expiry_seconds=1', '/expiry_seconds'],
    ['GET', '/bucket/assets/a?sign=GET&expiry_seconds=0', '/expiry_seconds'],
    ['GET', '/bucket/assets/a?sign=PUT&content_length_min=5&content_length_max=4', ''],
    ['GET', '/bucket/assets/a//b?stat=true', ''],
    ['GET', '/bucket/assets/?stat=true', ''],
    ['GET', '/bucket/assets/%00', ''],
    ['PUT', '/bucket/assets/a', '/source'],
    ['PUT', '/bucket/assets/a/?al=true', '/al'],
    ['DELETE', '/bucket/assets/a?recursive=si', '/recursive'],
  ] as const)('is 422 at %s %s', async (method, url, place) => {
    const answer = await ask({ method, url: `${BASE}${url}` })
    expect([answer.statusCode, answer.json()]).toMatchObject([
      422,
      { error: expect.any(String) as string, statusCode: 422 },
    ])
    if (place !== '') expect(answer.json()).toMatchObject({ detail: [{ loc: [place.slice(1)] }] })
  })
})
