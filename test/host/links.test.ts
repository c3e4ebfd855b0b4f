import type { AddressInfo } from 'node:net'
import { fastify } from 'fastify'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { host, type HostOptions } from '../../src/host/index.ts'
import { ENDLESS, type Answer, type Ask, storyHost, type StoryHost, ApiStory } from './api-story.ts'
import { basic } from './sample-host.ts'

interface Link {
  readonly href: string
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  /** Request whose response had the link */
  readonly from: string
}

const NAMES: ReadonlySet<string> = new Set(['href', 'uri', 'self', 'next', 'prev', 'previous', 'first', 'last'])

function* linksIn(value: unknown): Generator<Omit<Link, 'from'>> {
  if (typeof value !== 'object' || value === null) return
  const { method = 'GET', headers = {} } = value as Partial<Link>
  for (const [name, one] of Object.entries(value)) {
    if (NAMES.has(name) && typeof one === 'string') yield { href: one, method, headers }
    // raw data is what an actuator was answered
    else if (name !== 'record' && name !== 'rawData') yield* linksIn(one)
  }
}

function* linksOf({ headers, body }: Answer): Generator<Omit<Link, 'from'>> {
  if (typeof headers['location'] === 'string') yield { href: headers['location'], method: 'GET', headers: {} }
  for (const [, href = ''] of (typeof headers['link'] === 'string' ? headers['link'] : '').matchAll(/<([^>]*)>/g))
    yield { href, method: 'GET', headers: {} }
  if (/^application\/(?:[\w.-]+\+)?json/.test(String(headers['content-type'])) && /^[[{]/.test(body)) {
    yield* linksIn(JSON.parse(body))
  }
}

/** Sends all examples and all reads, and collects the links of all responses. */
async function linksOfAll({ ask, operations }: StoryHost, host: string): Promise<readonly Link[]> {
  const found = new Map<string, Link>()
  const noting: Ask = async (asked) => {
    const answer = await ask({ ...asked, headers: { host, ...asked.headers } })
    const from = `${asked.method ?? 'GET'} ${asked.url}`
    // `next` of the audit is an id to continue from
    if (asked.url.startsWith('/audit/')) return answer
    for (const link of linksOf(answer)) found.set(`${link.method} ${link.href}`, { ...link, from })
    return answer
  }
  const story = new ApiStory(noting)
  await story.whole(operations)
  const page = await noting({ url: '/registry/v2/runtimes/web-node24/versions/1/example' })
  await story.upload('/registry/v2/webscripts?async=false&version=^1', page.rawPayload)
  for (const operation of operations) {
    if (operation.method !== 'get' || ENDLESS.test(operation.operationId)) continue
    const url = story.urlOf(operation)
    for (const accept of ['application/json', 'application/hal+json']) await noting({ url, headers: { accept } })
    if (/tasks|templates|resources|alarms|versions$/.test(url) && !url.includes('?')) {
      await noting({ url: `${url}?limit=1&skip=1`, headers: { accept: 'application/hal+json' } })
    }
  }
  return [...found.values()]
}

describe('the links of responses', () => {
  let story: StoryHost
  let origin: string
  let links: readonly Link[]
  beforeAll(async () => {
    story = await storyHost()
    await story.app.listen({ host: '127.0.0.1', port: 0 })
    const { port } = story.app.server.address() as AddressInfo
    origin = `127.0.0.1:${port}`
    links = await linksOfAll(story, origin)
  }, 120_000)
  afterAll(() => story.app.close())

  it('are absolute, for every service with links', () => {
    const odd = links.filter(({ href }) => !href.startsWith(`http://${origin}/`) && !href.startsWith('s3://'))
    expect(odd).toEqual([])
    const from = (start: string) => links.filter((link) => link.from.includes(` ${start}`)).length
    const services = ['/registry/v2', '/api/v1/webscripts', '/api/resources', '/api/tasks', '/api/templates', '/alarm']
    for (const service of [...services, '/storage/v1', '/config/query', '/resources', '/api/batch', '/batch'])
      expect([service, from(service) > 0]).toEqual([service, true])
  })

  it('lead to something, by the method that they state', async () => {
    const order = ['GET', 'PUT', 'POST', 'DELETE']
    const lost: unknown[] = []
    const sorted = [...links].sort((one, other) => order.indexOf(one.method) - order.indexOf(other.method))
    for (const { href, method, headers: stated, from } of sorted) {
      if (!href.startsWith('http')) continue
      const isSigned = href.includes('X-Amz-')
      const headers = { ...stated, ...(!isSigned && { authorization: basic('k', 's') }) }
      const body = method === 'GET' || method === 'DELETE' ? null : '{}'
      const answer = await fetch(href, { method, headers, body, redirect: 'manual' })
      await answer.body?.cancel()
      if ([404, 405].includes(answer.status)) lost.push([method, href, answer.status, from])
    }
    expect(lost).toEqual([])
  }, 120_000)
})

describe('the base of links', () => {
  const HEADERS = { host: 'inner:8080', authorization: basic('k', 's') }
  const BEHIND = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'iot.example.com' }
  const hostWith = async (options: HostOptions, trustProxy?: string) => {
    const app = fastify(trustProxy === undefined ? {} : { trustProxy })
    onTestFinished(() => app.close())
    await app.register(host, { store: 'memory:', key: 'k', secret: 's', ...options })
    return app
  }

  it.each([
    ['the address of the request', {}, undefined, 'http://inner:8080'],
    ['the address that a trusted proxy states', {}, 'loopback', 'https://iot.example.com'],
    [
      '--url, whatever the request says',
      { url: 'https://iot.example.com/at' },
      'loopback',
      'https://iot.example.com/at',
    ],
    ['the address of the request and the prefix of the plugin', { prefix: '/at' }, undefined, 'http://inner:8080/at'],
  ])('is %s', async (_what, options: HostOptions, trustProxy, base) => {
    const app = await hostWith(options, trustProxy)
    const url = `${options.prefix ?? ''}/api/resources?limit=1`
    const headers = { ...HEADERS, ...BEHIND, accept: 'application/hal+json' }
    const { _links } = (await app.inject({ url, headers })).json<{ _links: { self: { href: string } } }>()
    expect(_links.self.href).toBe(`${base}/api/resources?limit=1&skip=0`)
    const alarms = await app.inject({ url: `${options.prefix ?? ''}/alarm/alarms?size=2`, headers })
    expect(alarms.json<{ self: string }>().self).toBe(`${base}/alarm/alarms?size=2`)
  })

  it.each([
    ['of a proxy that speaks TLS', {}, 'loopback', { ...HEADERS, ...BEHIND }, 'https://iot.example.com/', ''],
    [
      'of --url, behind a proxy that cuts a path',
      { url: 'https://iot.example.com/at' },
      undefined,
      HEADERS,
      'https://iot.example.com/at/',
      '/at',
    ],
  ])('signs addresses %s', async (_what, options: HostOptions, trustProxy, headers, start, cut) => {
    const app = await hostWith(options, trustProxy)
    const signed = await app.inject({ url: '/storage/v1/bucket/assets/a.txt?sign=PUT', headers })
    const { href } = signed.json<{ _links: { put_object: { href: string } } }>()._links.put_object
    expect(href).toContain(`${start}reflexarc-ws-assets-default/a.txt?`)
    const { pathname, search } = new URL(href)
    const { authorization: _none, ...sent } = headers
    const put = await app.inject({
      method: 'PUT',
      url: pathname.slice(cut.length) + search,
      headers: sent,
      payload: 'a',
    })
    expect(put.statusCode).toBe(200)
  })
})
