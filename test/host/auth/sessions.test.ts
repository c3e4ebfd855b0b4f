// Holds SESSION-1, SESSION-2
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { basic } from '../sample-host.ts'
import { wholeHost, type WholeHost } from '../whole-host.ts'

const HOST = 'iot.example'
const clock = { now: 0 }
let host: WholeHost
beforeEach(async () => {
  clock.now = Date.UTC(2026, 10, 30)
  host = await wholeHost({}, { now: () => clock.now, openStorage: async () => openMemory() })
})
afterEach(() => host[Symbol.asyncDispose]())

type Headers = Readonly<Record<string, string>>
type Method = 'GET' | 'POST' | 'DELETE'

async function ask(method: Method, url: string, headers: Headers = {}, payload?: object) {
  const {
    statusCode,
    headers: answered,
    body,
  } = await host.app.inject({
    method,
    url,
    headers: { host: HOST, ...headers },
    ...(payload && { payload }),
  })
  const cookie = String(answered['set-cookie'] ?? '')
  return { status: statusCode, cookie, body: (body === '' ? {} : JSON.parse(body)) as Record<string, string> }
}

/** Opens a session; returns headers for reads and for writes. */
async function signedIn(body: object = { key: 'acme', secret: 's' }) {
  const opened = await ask('POST', '/auth/v1/session', {}, body)
  expect(opened.status).toBe(201)
  const read = { cookie: `theme=dark; ${opened.cookie.split(';')[0]}` }
  return { ...opened, read, write: { ...read, 'x-reflexarc-csrf': opened.body['csrf'] ?? '' } }
}

const alarm = { source: { id: 'boiler-1' }, type: 'HOT', text: 'hot', severity: 'MAJOR' }

describe('a session', () => {
  it('is opened by a key, as a cookie that scripts of pages cannot read', async () => {
    const { body, cookie, read } = await signedIn()
    expect(body).toEqual({
      user: 'acme',
      tenant: 'acme',
      scopes: ['device', 'read', 'operate', 'author', 'publish', 'admin'],
      csrf: expect.stringMatching(/^[\w-]{43}$/) as unknown,
      expires: '2026-11-30T12:00:00.000Z',
    })
    expect(cookie).toMatch(/^reflexarc_session=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict$/)
    expect(await ask('GET', '/auth/v1/session', read)).toMatchObject({ status: 200, body })
    expect((await ask('GET', '/api/tasks', read)).status).toBe(200)
  })

  it('is sent only over TLS where the host is behind TLS', async () => {
    await using secure = await wholeHost({ url: `https://${HOST}` })
    const payload = { key: 'acme', secret: 's' }
    const { headers } = await secure.app.inject({ method: 'POST', url: '/auth/v1/session', payload })
    expect(headers['set-cookie']).toMatch(/; Secure$/)
  })

  it.each<[string, object, number]>([
    ['a wrong secret', { key: 'acme', secret: 'x' }, 401],
    ['an unknown key', { key: 'nobody', secret: 's' }, 401],
    ['an unknown link', { link: 'x' }, 401],
    ['both ways', { key: 'acme', secret: 's', link: 'x' }, 400],
    ['half of a pair', { key: 'acme' }, 400],
    ['nothing', {}, 400],
  ])('is not opened by %s', async (_, body, status) => {
    expect(await ask('POST', '/auth/v1/session', {}, body)).toMatchObject({ status, cookie: '' })
  })

  it('is not opened by a page of another origin', async () => {
    const page = { origin: 'https://evil.example' }
    expect((await ask('POST', '/auth/v1/session', page, { key: 'acme', secret: 's' })).status).toBe(403)
  })

  it('writes only with its token in a header', async () => {
    const { read, write } = await signedIn()
    const [own, other] = [await signedIn(), await signedIn()]
    expect((await ask('POST', '/alarm/alarms', write, alarm)).status).toBe(200)
    for (const headers of [read, { ...own.read, 'x-reflexarc-csrf': other.body['csrf'] ?? '' }]) {
      const { status, body } = await ask('POST', '/alarm/alarms', headers, alarm)
      expect([status, body['code']]).toEqual([403, 'FORBIDDEN'])
      expect(body['error']).toMatch(/^x-reflexarc-csrf: missing or wrong; send /)
    }
  })

  it.each<[string, Headers]>([
    ['another site', { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }],
    ['another port of the host', { origin: `http://${HOST}:81`, 'sec-fetch-site': 'same-site' }],
    ['another origin in an older browser', { origin: 'https://evil.example' }],
    ['a sandbox', { origin: 'null' }],
  ])('neither reads, writes nor opens a socket for a page of %s', async (_, page) => {
    const { read, write } = await signedIn()
    expect((await ask('GET', '/api/tasks', { ...read, ...page })).status).toBe(403)
    expect((await ask('POST', '/alarm/alarms', { ...write, ...page }, alarm)).status).toBe(403)
    const upgrade = { connection: 'upgrade', upgrade: 'websocket' }
    expect((await ask('GET', '/resources/r/socket', { ...read, ...page, ...upgrade })).status).toBe(403)
  })

  it('opens no socket without an origin', async () => {
    const { read } = await signedIn()
    const upgrade = { connection: 'upgrade', upgrade: 'websocket' }
    expect((await ask('GET', '/resources/r/socket', { ...read, ...upgrade })).status).toBe(403)
  })

  it('has the scopes of its key', async () => {
    const reader = await host.done<{ key: string; secret: string }>('POST', '/auth/v1/keys', { scopes: ['read'] })
    const { body, write } = await signedIn({ key: reader.key, secret: reader.secret })
    expect(body['scopes']).toEqual(['read'])
    expect((await ask('POST', '/alarm/alarms', write, alarm)).body['error']).toMatch(/^The scope operate is missing/)
  })

  it('ends at its DELETE, for all later requests', async () => {
    const { read, write } = await signedIn()
    expect((await ask('DELETE', '/auth/v1/session', read)).status).toBe(403)
    const ended = await ask('DELETE', '/auth/v1/session', write)
    expect([ended.status, ended.cookie]).toEqual([204, expect.stringMatching(/^reflexarc_session=; .*Max-Age=0/)])
    expect((await ask('GET', '/auth/v1/session', read)).status).toBe(401)
  })

  it('expires after twelve hours', async () => {
    const { read } = await signedIn()
    clock.now += 12 * 3_600_000 - 1
    expect((await ask('GET', '/auth/v1/session', read)).status).toBe(200)
    clock.now += 1
    expect((await ask('GET', '/auth/v1/session', read)).status).toBe(401)
  })

  it('ends with the key that opened it', async () => {
    const made = await host.done<{ key: string; secret: string }>('POST', '/auth/v1/keys', { scopes: ['read'] })
    const { read } = await signedIn({ key: made.key, secret: made.secret })
    expect((await host.send('DELETE', `/auth/v1/keys/${made.key}`)).statusCode).toBe(204)
    expect((await ask('GET', '/auth/v1/session', read)).status).toBe(401)
  })

  it('is listed, and ended by an administrator of its tenant', async () => {
    const { read } = await signedIn()
    const { sessions } = await host.done<{ sessions: readonly { id: string; user: string }[] }>(
      'GET',
      '/auth/v1/sessions',
    )
    expect(sessions).toEqual([
      {
        id: expect.any(String) as unknown,
        user: 'acme',
        scopes: ['admin'],
        createTime: '2026-11-30T00:00:00.000Z',
        expires: '2026-11-30T12:00:00.000Z',
      },
    ])
    const path = `/auth/v1/sessions/${sessions[0]?.id}`
    expect((await host.send('DELETE', path, undefined, 'umbrella')).statusCode).toBe(404)
    expect((await host.send('DELETE', path)).statusCode).toBe(204)
    expect((await ask('GET', '/auth/v1/session', read)).status).toBe(401)
  })

  it('is missing where there is only a key', async () => {
    expect((await ask('GET', '/auth/v1/session', { authorization: basic('acme', 's') })).status).toBe(401)
    expect((await ask('GET', '/auth/v1/session')).status).toBe(401)
  })
})

describe('a one-time link', () => {
  const linkBy = (key = 'acme') =>
    host.done<{ link: string; path: string; expires: string }>('POST', '/auth/v1/links', undefined, key)

  it('opens one session, with the rights of the caller who made it', async () => {
    const { link, path, expires } = await linkBy('bob')
    expect([path, expires]).toEqual([`/console#link=${link}`, '2026-11-30T00:15:00.000Z'])
    expect((await signedIn({ link })).body).toMatchObject({ user: 'bob', tenant: 'acme' })
    expect((await ask('POST', '/auth/v1/session', {}, { link })).status).toBe(401)
  })

  it('opens one session for two who use it at once', async () => {
    const { link } = await linkBy()
    const both = await Promise.all([1, 2].map(() => ask('POST', '/auth/v1/session', {}, { link })))
    expect(new Set(both.map(({ status }) => status))).toEqual(new Set([201, 401]))
  })

  it('expires after fifteen minutes', async () => {
    const { link } = await linkBy()
    clock.now += 15 * 60_000
    expect((await ask('POST', '/auth/v1/session', {}, { link })).status).toBe(401)
  })

  it('opens a session that ends with the token that made it, and expires with the token', async () => {
    const token = await host.tokens.issue({ tenant: 'acme', subject: 'anna', lifetime: 600 })
    const byToken = async () =>
      (await ask('POST', '/auth/v1/links', { authorization: `Bearer ${token}` })).body as {
        link: string
        expires: string
      }
    const [first, second] = [await byToken(), await byToken()]
    expect(first.expires).toBe('2026-11-30T00:10:00.000Z')
    const { body, read } = await signedIn({ link: first.link })
    expect(body['expires']).toBe('2026-11-30T00:10:00.000Z')
    clock.now += 600_000
    expect((await ask('GET', '/auth/v1/session', read)).status).toBe(401)
    expect((await ask('POST', '/auth/v1/session', {}, { link: second.link })).status).toBe(401)
  })

  it('ends with the key that made it', async () => {
    const { link } = await linkBy('bob')
    await host.send('DELETE', '/auth/v1/keys/bob')
    expect((await ask('POST', '/auth/v1/session', {}, { link })).status).toBe(401)
  })
})
