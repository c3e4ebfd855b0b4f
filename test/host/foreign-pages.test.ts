/** Sends requests to every writing route as a page of another origin, opened by a user who is signed in. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { printedRoutes } from './printed-routes.ts'
import { basic } from './sample-host.ts'
import { wholeHost, type WholeHost } from './whole-host.ts'

const HOST = 'iot.example'
/** Writes that check a signature or secret themselves, and do not accept a pair stored by the browser. */
const CHECKED_THERE = [
  ...['/api/v1/one', '/api/v1/one/one', '/functions/v1/one', '/functions/v1/one/one'].flatMap((url) =>
    ['POST', 'PUT', 'PATCH', 'DELETE'].map((method) => `${method} ${url}`),
  ),
  'POST /alarm/links/one',
  'POST /auth/v1/session',
  'POST /reflexarc-ws-one',
  'POST /reflexarc-ws-one/one',
  'PUT /reflexarc-ws-one/one',
  'DELETE /reflexarc-ws-one/one',
]

let host: WholeHost
beforeAll(async () => {
  host = await wholeHost()
})
afterAll(() => host[Symbol.asyncDispose]())

type Headers = Readonly<Record<string, string>>
const asked = (method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', url: string, headers: Headers) =>
  host.app.inject({ method, url, headers: { host: HOST, authorization: basic('acme', 's'), ...headers } })

/** Returns the routes that the page reaches. */
async function reachedBy(page: Headers): Promise<readonly string[]> {
  const reached: string[] = []
  for (const { method, url } of printedRoutes(host.app)) {
    if (method === 'GET') continue
    const { statusCode, body } = await asked(method, url, page)
    if (statusCode !== 403 || !body.includes('A page of another origin')) reached.push(`${method} ${url}`)
  }
  return reached.toSorted()
}

describe('a page of another origin', () => {
  it.each<[string, Headers]>([
    ['on another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    ['on another name of this site', { origin: 'https://w.iot.example', 'sec-fetch-site': 'same-site' }],
    ['in an older browser', { origin: 'https://evil.example' }],
    ['of a tenant, which is sandboxed', { origin: 'null' }],
  ])('%s writes nothing on any route', async (_, page) => {
    expect(await reachedBy(page)).toEqual(CHECKED_THERE.toSorted())
  })

  it('opens no socket', async () => {
    const sockets = printedRoutes(host.app).filter(({ url }) => /(?:socket|publish|subscribe)$/.test(url))
    expect(sockets.length).toBeGreaterThan(5)
    for (const { method, url } of sockets) {
      const page = { origin: 'https://evil.example', upgrade: 'websocket', connection: 'upgrade' }
      expect((await asked(method, url, page)).statusCode, url).toBe(403)
    }
  })

  it('writes with what no browser attaches on its own: the check is of what is shown', async () => {
    const answer = await asked('POST', '/api/tasks', { origin: 'https://evil.example', authorization: 'Bearer abc' })
    expect(answer.statusCode).toBe(401)
  })
})

describe('a write', () => {
  it.each<[string, Headers]>([
    ['a program', {}],
    ['a page of this origin', { origin: `http://${HOST}`, 'sec-fetch-site': 'same-origin' }],
    ['a page of this origin in an older browser', { origin: `https://${HOST}` }],
  ])('of %s passes', async (_, page) => {
    expect((await asked('POST', '/api/data', { ...page, 'content-type': 'application/json' })).statusCode).toBe(400)
  })
})

describe('GET /metrics', () => {
  it.each([
    ['localhost:8080', 200],
    ['127.0.0.1', 200],
    ['[::1]:8080', 200],
    ['evil.example', 401],
    ['127.0.0.1.evil.example:8080', 401],
  ])('without credentials, by the name %j', async (name, status) => {
    expect((await host.app.inject({ url: '/metrics', headers: { host: name } })).statusCode).toBe(status)
  })
})
