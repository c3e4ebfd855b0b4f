/** Tests object storage over HTTP, in a whole host. */
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
  it('are listed with links and their store', async () => {
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

  it('are also at short paths, and need credentials', async () => {
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

describe('an invalid request', () => {
  it.each([
    ['GET', '/bucket/assets/a?sign=GET&expiry_days=7&expiry_seconds=1', '/expiry_seconds'],
    ['GET', '/bucket/assets/a?sign=GET&expiry_seconds=0', '/expiry_seconds'],
    ['GET', '/bucket/assets/a?sign=PUT&content_length_min=5&content_length_max=4', ''],
    ['GET', '/bucket/assets/a//b?stat=true', ''],
    ['GET', '/bucket/assets/?stat=true', ''],
    ['GET', '/bucket/assets/%00', ''],
  ] as const)('is 422 at %s %s', async (method, url, place) => {
    const answer = await ask({ method, url: `${BASE}${url}` })
    expect([answer.statusCode, answer.json()]).toMatchObject([
      422,
      { error: expect.any(String) as string, statusCode: 422 },
    ])
    if (place !== '') expect(answer.json()).toMatchObject({ detail: [{ loc: [place.slice(1)] }] })
  })
})

describe('contents', () => {
  it('are transferred by signed addresses, with any type and coding', async () => {
    const { _links } = await get('/bucket/assets/in/data.csv.gz?sign=PUT&content_type=text/csv;charset%3Dlatin1')
    const { put_object: link } = _links as {
      put_object: { href: string; method: string; headers: Record<string, string> }
    }
    expect([link.method, link.headers]).toEqual(['PUT', { 'content-type': 'text/csv;charset=latin1' }])
    const headers = { host: 'host.test', ...link.headers, 'content-encoding': 'gzip' }
    const put = await app.inject({
      method: 'PUT',
      url: link.href.slice('http://host.test'.length),
      headers,
      payload: 'abc',
    })
    expect([put.statusCode, put.body]).toEqual([200, ''])
    const stat = await get('/bucket/assets/in/data.csv.gz?stat=true')
    expect(stat).toMatchObject({
      etag: '900150983cd24fb0d6963f7d28e17f72',
      size: 3,
      content_type: 'text/csv;charset=latin1',
      last_modified: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$/) as string,
    })
    const links = stat['_links'] as Record<string, { href: string }>
    expect(Object.keys(links)).toEqual(['self', 'sign_get', 'sign_put', 'remove'])
    const signed = (await ask({ url: (links['sign_get']?.href ?? '').slice('http://host.test'.length) })).json<{
      _links: { get_object: { href: string } }
    }>()
    const url = signed._links.get_object.href.slice('http://host.test'.length)
    const read = await app.inject({ url, headers: { host: 'host.test' } })
    expect([read.statusCode, read.body]).toEqual([200, 'abc'])
    expect((await app.inject({ url, headers: { host: 'other.test' } })).statusCode).toBe(403)
    const listed = await get('/bucket/assets/in/')
    expect((listed['objects'] as readonly object[])[0]).not.toHaveProperty('content_type')
  })

  it('have links by the rights of the caller', async () => {
    const { _links } = await get('/bucket/etl-export/')
    expect(Object.keys(_links as object)).toEqual(['self'])
    const write = await ask({ url: `${BASE}/bucket/etl-export/a?sign=PUT` })
    expect([write.statusCode, write.json()]).toMatchObject([403, { code: 'FORBIDDEN' }])
    const { _links: post } = await get('/bucket/assets/form/?sign=POST&expiry_hours=1&content_length_max=9')
    const {
      href,
      method,
      form_data: fields,
    } = (post as { post_object: { href: string; method: string; form_data: Record<string, string> } }).post_object
    expect([href, method, Object.keys(fields)]).toEqual([
      'http://host.test/reflexarc-ws-assets-default/',
      'POST',
      ['x-amz-algorithm', 'x-amz-credential', 'x-amz-date', 'policy', 'x-amz-signature', 'bucket', 'key'],
    ])
    expect(JSON.parse(Buffer.from(fields['policy'] ?? '', 'base64').toString())).toMatchObject({
      conditions: expect.arrayContaining([
        ['starts-with', '$key', 'form/'],
        ['content-length-range', 0, 9],
      ]) as unknown[],
    })
  })

  it('have pages, whose links keep the query', async () => {
    await ask({ method: 'PUT', url: `${BASE}/bucket/assets/pages/` })
    const { objects, _links } = (await get('/bucket/assets/?recursive=true&max_keys=1&all=true')) as {
      objects: { name: string }[]
      _links: Record<string, { href: string }>
    }
    const [first] = objects
    expect(_links['next']).toEqual(
      link(`/bucket/assets/?recursive=true&max_keys=1&all=true&start_after=${encodeURIComponent(first?.name ?? '')}`),
    )
    const next = await ask({ url: (_links['next']?.href ?? '').slice('http://host.test'.length) })
    expect(next.json()).toMatchObject({ _links: { first: link('/bucket/assets/?recursive=true&max_keys=1&all=true') } })
  })
})
