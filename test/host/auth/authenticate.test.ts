import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose'
import { describe, expect, it } from 'vitest'
import { randomKey } from '../../../src/host/data-folder.ts'
import { Tokens } from '../../../src/host/auth/tokens.ts'
import { freePort } from '../../support/free-port.ts'
import { basic, PAIR, sampleHost, type SampleHost } from '../sample-host.ts'

const things = (host: SampleHost, authorization: string) =>
  host.app.inject({ method: 'GET', url: '/sample/things', headers: { authorization } })

describe('a key and its secret', () => {
  it('authenticate their tenant', async () => {
    await using host = await sampleHost()
    expect((await things(host, basic(PAIR.key, PAIR.secret))).json()).toEqual({ tenant: 'one', user: 'key-1' })
  })

  it.each([
    ['a wrong secret', basic(PAIR.key, 'open')],
    ['an unknown key', basic('nobody', PAIR.secret)],
    ['an empty secret', basic(PAIR.key, '')],
    ['no colon', `Basic ${btoa('key-1')}`],
    ['no scheme', btoa('key-1:open-sesame')],
    ['another scheme', `Digest ${btoa('key-1:open-sesame')}`],
    ['nothing', 'Basic '],
  ])('%s is 401, with the authentication methods', async (_what, authorization) => {
    await using host = await sampleHost()
    const answer = await things(host, authorization)
    expect([answer.statusCode, answer.json<{ status: number }>().status]).toEqual([401, 401])
    expect(answer.headers['www-authenticate']).toEqual([
      expect.stringMatching(/^Basic /),
      expect.stringMatching(/^Bearer /),
    ])
  })

  it('may have any characters but a colon in the key', async () => {
    await using host = await sampleHost()
    await host.keyPairs.add({ key: 'é/+', secret: 'ü:ß:', tenant: 'two' })
    expect((await things(host, basic('é/+', 'ü:ß:'))).json()).toMatchObject({ tenant: 'two' })
  })

  it('are remembered for a minute, no longer', async () => {
    await using host = await sampleHost()
    await host.ask({ method: 'GET', url: '/' })
    await host.keyPairs.remove(PAIR.key)
    host.clock.now += 59_000
    expect((await host.ask({ method: 'GET', url: '/' })).statusCode).toBe(200)
    host.clock.now += 1_000
    expect((await host.ask({ method: 'GET', url: '/' })).statusCode).toBe(401)
  })

  it('are stored as a hash with a random salt', async () => {
    await using host = await sampleHost()
    const records = host.store.tenant('_host').collection({ name: 'key_pairs', version: 1, fields: {} })
    const before = await records.get(PAIR.key)
    await host.keyPairs.add(PAIR)
    const after = await records.get(PAIR.key)
    expect(JSON.stringify(before)).not.toContain(PAIR.secret)
    expect(after?.value).not.toEqual(before?.value)
  })

  it('cannot be guessed quickly: after twenty wrong ones an address must wait', async () => {
    await using host = await sampleHost()
    const guess = async (secret: string) => (await things(host, basic(PAIR.key, secret))).statusCode
    for (let i = 0; i < 20; i++) expect(await guess(`${i}`)).toBe(401)
    expect(await guess('another')).toBe(429)
    expect(await guess(PAIR.secret), 'also the right one, or guessing would go on').toBe(429)
    expect((await things(host, basic('other', 'x'))).statusCode, 'on another key').toBe(401)
    host.clock.now += 1000
    expect(await guess(PAIR.secret)).toBe(200)
  })
})

describe('failed attempts of others', () => {
  const MINUTE = 60_000
  const junk = (host: SampleHost, authorization: string, remoteAddress = '127.0.0.1') =>
    host.app.inject({ method: 'GET', url: '/sample/things', headers: { authorization }, remoteAddress })

  it('do not lock out a pair that was valid before', async () => {
    await using host = await sampleHost()
    expect((await host.ask({ method: 'GET', url: '/' })).statusCode).toBe(200)
    host.clock.now += MINUTE
    for (let i = 0; i < 25; i++) await things(host, basic(PAIR.key, `${i}`))
    expect((await things(host, basic(PAIR.key, 'another'))).statusCode).toBe(429)
    expect((await host.ask({ method: 'GET', url: '/' })).statusCode).toBe(200)
  })

  it('do not lock out bearer tokens, even new ones', async () => {
    await using host = await sampleHost()
    for (let i = 0; i < 25; i++) expect((await things(host, `Bearer junk${i}`)).statusCode).toBe(401)
    for (let i = 0; i < 25; i++) await things(host, basic('', `${i}`))
    const token = await host.tokens.issue({ tenant: 'one', subject: 'anna', lifetime: 30 })
    expect((await things(host, `Bearer ${token}`)).statusCode).toBe(200)
  })

  it('are limited in concurrent bursts too', async () => {
    await using host = await sampleHost()
    const answers = await Promise.all(Array.from({ length: 60 }, (_, i) => things(host, basic(PAIR.key, `${i}`))))
    expect(answers.filter(({ statusCode }) => statusCode === 401)).toHaveLength(20)
  })

  it('do not lock out other addresses, for any number of tried keys', async () => {
    await using host = await sampleHost()
    const wrong = Array.from({ length: 300 }, (_, i) => junk(host, basic(`random-${i}`, 'x'), '10.0.0.66'))
    const good = junk(host, basic(PAIR.key, PAIR.secret), '10.0.0.1')
    const again = junk(host, basic('nobody', 'x'), '10.0.0.2')
    expect((await good).statusCode).toBe(200)
    expect((await again).statusCode).toBe(401)
    const statuses = new Set((await Promise.all(wrong)).map(({ statusCode }) => statusCode))
    expect(statuses).toEqual(new Set([401, 429]))
  })

  it('count for the client address that a trusted proxy names', async () => {
    const guess = async (host: SampleHost, via: string, secret: string) => {
      const headers = { authorization: basic(PAIR.key, secret), 'x-forwarded-for': via }
      return (await host.app.inject({ method: 'GET', url: '/sample/things', headers })).statusCode
    }
    for (const [given, expected] of [[{ trustProxy: 'loopback' }, 200] as const, [{}, 429] as const]) {
      await using host = await sampleHost(given)
      for (let i = 0; i < 25; i++) await guess(host, '203.0.113.66', `${i}`)
      expect(await guess(host, '203.0.113.66', PAIR.secret)).toBe(429)
      expect(await guess(host, '203.0.113.1', PAIR.secret)).toBe(expected)
    }
  })
})

describe('the query', () => {
  const url = `/sample/things?apiKey=${PAIR.key}&apiSecret=${PAIR.secret}`

  it('may contain a pair for a WebSocket', async () => {
    await using host = await sampleHost()
    const headers = { upgrade: 'websocket', connection: 'upgrade' }
    expect((await host.app.inject({ method: 'GET', url, headers })).statusCode).toBe(200)
    const wrong = url.replace(/.$/, '')
    expect((await host.app.inject({ method: 'GET', url: wrong, headers })).statusCode).toBe(401)
    const twice = `${url}&apiSecret=x`
    expect((await host.app.inject({ method: 'GET', url: twice, headers })).statusCode).toBe(401)
  })

  it('may not contain a pair for other requests, whose URLs are logged elsewhere', async () => {
    await using host = await sampleHost()
    expect((await host.app.inject({ method: 'GET', url })).statusCode).toBe(401)
  })
})

describe('a route', () => {
  it('of another tenant is 403', async () => {
    await using host = await sampleHost()
    expect((await host.ask({ method: 'GET', url: '/sample/of/one' })).statusCode).toBe(200)
    const answer = await host.ask({ method: 'GET', url: '/sample/of/two' })
    expect(answer.json()).toMatchObject({ status: 403, problem: 'You are not authorized to perform this action' })
  })

  it('that is public identifies no caller, whatever is presented', async () => {
    await using host = await sampleHost()
    expect((await host.ask({ method: 'GET', url: '/sample/open' })).json()).toEqual({ user: '' })
  })
})

describe('a bearer token', () => {
  const SECOND = 1000
  const order = { tenant: 'one', subject: 'anna', lifetime: 30 }
  const tokens = (host: SampleHost, key = randomKey()) => new Tokens(key, () => host.clock.now)

  it('of the command line opens the host of the same data folder, until it expires', async () => {
    await using host = await sampleHost()
    const token = await host.tokens.issue(order)
    expect((await things(host, `Bearer ${token}`)).json()).toEqual({ tenant: 'one', user: 'anna' })
    host.clock.now += 29 * SECOND
    expect((await things(host, `bearer ${token}`)).statusCode).toBe(200)
    host.clock.now += 7 * SECOND
    expect((await things(host, `Bearer ${token}`)).statusCode).toBe(401)
  })

  it('that is signed with the same key for another purpose is rejected', async () => {
    const key = randomKey()
    const now = () => Date.UTC(2026, 0, 1)
    const token = await new SignJWT({ tenant: 'one' })
      .setProtectedHeader({ alg: 'HS256' })
      .setIssuer('mailer')
      .setSubject('anna')
      .setExpirationTime(now() / 1000 + 60)
      .sign(key)
    await expect(new Tokens(key, now).check(token)).rejects.toThrow(/"iss"/)
  })

  it('is cached no longer than it is valid', async () => {
    await using host = await sampleHost()
    const token = await host.tokens.issue(order)
    await things(host, `Bearer ${token}`)
    host.clock.now += 40 * SECOND
    expect((await things(host, `Bearer ${token}`)).statusCode).toBe(401)
  })

  it.each<[string, (host: SampleHost) => Promise<string> | string, number]>([
    ['of another key', (host) => tokens(host).issue(order), 401],
    ['that is none', () => 'abc', 401],
    ['without a signature', (host) => unsigned(host), 401],
    [
      'of another issuer, when none is trusted',
      async (host) => foreignToken(host, await generateKeyPair('ES256')),
      401,
    ],
    ['for a tenant that nobody may be', (host) => host.tokens.issue({ ...order, tenant: '_host' }), 403],
  ])('%s does not', async (_what, make, status) => {
    await using host = await sampleHost()
    expect((await things(host, `Bearer ${await make(host)}`)).statusCode).toBe(status)
  })

  it.each(['RS256', 'ES256'])('of a trusted issuer, %s, is checked with its published keys', async (alg) => {
    const keys = await generateKeyPair(alg, { extractable: true })
    const published = { keys: [{ ...(await exportJWK(keys.publicKey)), alg, kid: 'k' }] }
    const server = createServer((_request, response) => response.end(JSON.stringify(published))).listen(0, '127.0.0.1')
    await new Promise((resolve) => server.once('listening', resolve))
    const { port } = server.address() as AddressInfo
    try {
      const jwks = `http://127.0.0.1:${port}/keys`
      await using host = await sampleHost({
        jwks,
        issuer: 'https://issuer.example',
        audience: 'us',
        tenantClaim: 'org',
      })
      const good = await foreignToken(host, keys, alg)
      expect((await things(host, `Bearer ${good}`)).json()).toEqual({ tenant: 'two', user: 'bert' })
      const others = [
        await foreignToken(host, await generateKeyPair(alg), alg),
        await foreignToken(host, keys, alg, { iss: 'https://other.example' }),
        await foreignToken(host, keys, alg, { aud: 'them' }),
      ]
      for (const token of others) expect((await things(host, `Bearer ${token}`)).statusCode).toBe(401)
      const nameless = await foreignToken(host, keys, alg, { org: 5 })
      expect((await things(host, `Bearer ${nameless}`)).statusCode).toBe(403)
      const old = await foreignToken(host, keys, alg, { exp: host.clock.now / 1000 - 60 })
      const issued = await Promise.all([good, ...others, nameless, old].map((one) => host.tokens.isIssued(one)))
      // a valid signature suffices, for any tenant and audience
      expect(issued).toEqual([true, false, true, true, true, true])
    } finally {
      server.close()
      server.closeAllConnections()
    }
  })

  it('is reported as expired if signed here, and otherwise as foreign', async () => {
    await using host = await sampleHost()
    const own = await host.tokens.issue(order)
    host.clock.now += 40 * SECOND
    const foreign = await foreignToken(host, await generateKeyPair('ES256'))
    const shown = [own, await tokens(host).issue(order), foreign, unsigned(host), 'abc']
    expect(await Promise.all(shown.map((one) => host.tokens.isIssued(one)))).toEqual([true, false, false, false, false])
  })

  it('is attributed to its issuer while the keys of the issuer are unavailable', async () => {
    await using host = await sampleHost({ jwks: `http://127.0.0.1:${await freePort()}/keys` })
    expect(await host.tokens.isIssued(await foreignToken(host, await generateKeyPair('ES256')))).toBe(true)
  })
})

function claims(host: SampleHost, more: object = {}): Record<string, unknown> {
  const now = host.clock.now / 1000
  return { iss: 'https://issuer.example', aud: 'us', sub: 'bert', org: 'two', iat: now, exp: now + 60, ...more }
}

function unsigned(host: SampleHost): string {
  return new UnsecuredJWT(claims(host, { iss: 'reflexarc', tenant: 'one' })).encode()
}

function foreignToken(
  host: SampleHost,
  keys: Awaited<ReturnType<typeof generateKeyPair>>,
  alg = 'ES256',
  more: object = {},
): Promise<string> {
  return new SignJWT(claims(host, more)).setProtectedHeader({ alg, kid: 'k' }).sign(keys.privateKey)
}
