/** Roles of tokens of an issuer, and sessions by its authorization codes, against a small issuer. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createHash } from 'node:crypto'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readConfig } from '../../../src/host/config.ts'
import { wholeHost, type WholeHost } from '../whole-host.ts'

const NOW = Date.UTC(2026, 10, 30)
const clock = { now: NOW }

/** An issuer that signs in `anna`. */
class Issuer {
  readonly #keys = generateKeyPair('ES256', { extractable: true })
  readonly #server: Server
  readonly #asked = new Map<string, URLSearchParams>()
  /** Claims in addition to those that the host needs */
  claims: Readonly<Record<string, unknown>> = {}
  audience = 'host'
  nonce: string | undefined

  constructor() {
    this.#server = createServer((request, response) => {
      void (async () => {
        let body = ''
        for await (const piece of request) body += String(piece)
        const answer = await this.#answer(new URL(request.url ?? '/', this.url), new URLSearchParams(body))
        response.writeHead(answer === undefined ? 400 : 200, { 'content-type': 'application/json' })
        response.end(JSON.stringify(answer ?? {}))
      })()
    })
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  listen(): Promise<void> {
    return new Promise((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  async token(more: object = {}): Promise<string> {
    const { privateKey } = await this.#keys
    const seconds = clock.now / 1_000
    const claims = { iss: this.url, aud: this.audience, sub: 'anna', tenant: 'acme', iat: seconds, exp: seconds + 60 }
    return new SignJWT({ ...claims, ...this.claims, ...more })
      .setProtectedHeader({ alg: 'ES256', kid: 'k' })
      .sign(privateKey)
  }

  /** Signs in as the browser would: returns the code for what the host asked. */
  signIn(address: string): { readonly code: string; readonly state: string; readonly redirect: string } {
    const { searchParams: asked } = new URL(address)
    const code = `code-${this.#asked.size}`
    this.#asked.set(code, asked)
    return { code, state: asked.get('state') ?? '', redirect: asked.get('redirect_uri') ?? '' }
  }

  async #answer({ pathname }: URL, body: URLSearchParams): Promise<object | undefined> {
    if (pathname === '/.well-known/openid-configuration') {
      return { issuer: this.url, authorization_endpoint: `${this.url}/authorize`, token_endpoint: `${this.url}/token` }
    }
    if (pathname === '/keys') {
      const { publicKey } = await this.#keys
      return { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256', kid: 'k' }] }
    }
    const asked = this.#asked.get(body.get('code') ?? '')
    this.#asked.delete(body.get('code') ?? '')
    const challenge = createHash('sha256')
      .update(body.get('code_verifier') ?? '')
      .digest('base64url')
    const isRight = asked?.get('code_challenge') === challenge && body.get('client_secret') === 'host-secret'
    if (pathname !== '/token' || !isRight) return undefined
    return { id_token: await this.token({ nonce: this.nonce ?? asked.get('nonce') }) }
  }
}

let issuer: Issuer
let host: WholeHost
beforeAll(async () => {
  issuer = new Issuer()
  await issuer.listen()
  const client = { oidcClient: 'host', oidcSecret: 'host-secret' }
  const roles = { roleClaim: 'groups', roles: ['shift=operate', 'plant=author+operate'] }
  const given = { jwks: `${issuer.url}/keys`, issuer: issuer.url, audience: 'host', ...client, ...roles }
  host = await wholeHost(given, { now: () => clock.now })
})
afterAll(async () => {
  await host[Symbol.asyncDispose]()
  issuer.close()
})
beforeEach(() => {
  clock.now = NOW
  issuer.claims = { groups: ['shift'] }
  issuer.audience = 'host'
  issuer.nonce = undefined
})

describe('a token of the issuer', () => {
  const answerTo = async (url: string, method: 'GET' | 'PUT' = 'GET') => {
    const headers = { authorization: `Bearer ${await issuer.token()}`, 'content-type': 'application/json' }
    const { statusCode, body } = await host.app.inject({
      method,
      url,
      headers,
      ...(method === 'PUT' && { payload: '{}' }),
    })
    return [statusCode, body] as const
  }

  it.each<[string, unknown, number, number]>([
    ['in a group with a role', ['guests', 'shift'], 200, 403],
    ['in a group with two scopes', ['plant'], 200, 200],
    ['in a group that is named as a scope', 'author', 200, 200],
    ['in the group of administrators', ['admin'], 200, 200],
  ])('%s has its scopes', async (_, groups, reads, authors) => {
    issuer.claims = { groups }
    const [[read], [author]] = [await answerTo('/api/tasks'), await answerTo('/config/query/q', 'PUT')]
    expect([read, author === 403 ? 403 : 200]).toEqual([reads, authors])
  })

  it.each<[string, Issuer['claims']]>([
    ['without groups', {}],
    ['in groups without a role', { groups: ['guests'] }],
    ['with groups of another form', { groups: { admin: true } }],
    ['in the group of provisioning keys', { groups: ['provision'] }],
  ])('%s is rejected, with the claim and the roles', async (_, claims) => {
    issuer.claims = claims
    const [status, body] = await answerTo('/api/tasks')
    expect([status, body]).toEqual([403, expect.stringContaining('its claim \\"groups\\" names none of device, read')])
  })

  it('for another audience is rejected', async () => {
    issuer.audience = 'another'
    expect((await answerTo('/api/tasks'))[0]).toBe(401)
  })
})

describe('a login at the issuer', () => {
  async function begun() {
    const { statusCode, headers } = await host.app.inject({
      url: '/auth/v1/oidc/login',
      headers: { host: 'iot.example' },
    })
    expect(statusCode).toBe(302)
    const cookie = String(headers['set-cookie'])
    expect(cookie).toMatch(/^reflexarc_sign_in=[\w.-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/)
    return { address: String(headers.location), cookie: cookie.split(';')[0] ?? '' }
  }
  const returned = (query: string, cookie: string) =>
    host.app.inject({ url: `/auth/v1/oidc/callback?${query}`, headers: { host: 'iot.example', cookie } })

  it('opens a session with the roles of the person', async () => {
    const { address, cookie } = await begun()
    const { code, state, redirect } = issuer.signIn(address)
    expect(redirect).toBe('http://iot.example/auth/v1/oidc/callback')
    const answer = await returned(`code=${code}&state=${state}&iss=${issuer.url}`, cookie)
    expect([answer.statusCode, answer.headers.location]).toEqual([302, 'http://iot.example/console'])
    const [session = ''] = [answer.headers['set-cookie']].flat()
    expect(session).toMatch(/^reflexarc_session=[\w-]{43}; .*HttpOnly; SameSite=Strict$/)
    const shown = await host.app.inject({ url: '/auth/v1/session', headers: { cookie: session.split(';')[0] ?? '' } })
    expect(shown.json()).toMatchObject({ user: 'anna', tenant: 'acme', scopes: ['read', 'operate'] })
    expect((await returned(`code=${code}&state=${state}`, cookie)).statusCode, 'again').toBe(401)
  })

  it('that was begun in another browser is rejected', async () => {
    const [mine, theirs] = [await begun(), await begun()]
    const { code, state } = issuer.signIn(theirs.address)
    for (const cookie of [mine.cookie, '', `${theirs.cookie}x`]) {
      expect((await returned(`code=${code}&state=${state}`, cookie)).statusCode).toBe(401)
    }
  })

  it('that takes longer than ten minutes is rejected', async () => {
    const { address, cookie } = await begun()
    const { code, state } = issuer.signIn(address)
    clock.now += 600_000
    expect((await returned(`code=${code}&state=${state}`, cookie)).statusCode).toBe(401)
  })

  it.each<[string, () => void, number]>([
    ['with an identity for another audience', () => (issuer.audience = 'another'), 401],
    ['with an identity of another sign-in', () => (issuer.nonce = 'another'), 401],
    ['of a person without groups', () => (issuer.claims = {}), 403],
  ])('%s is rejected', async (_, change, status) => {
    const { address, cookie } = await begun()
    const { code, state } = issuer.signIn(address)
    change()
    const answer = await returned(`code=${code}&state=${state}`, cookie)
    expect([answer.statusCode, answer.headers['set-cookie']]).toEqual([status, undefined])
  })

  it('that the issuer rejects is reported', async () => {
    const { cookie } = await begun()
    const answer = await returned('error=access_denied&state=x', cookie)
    expect([answer.statusCode, answer.body]).toEqual([401, expect.stringContaining('access_denied')])
  })
})

describe('options', () => {
  it.each<[object, string]>([
    [{ roleClaim: 'groups' }, '--role-claim: --jwks is missing'],
    [{ oidcClient: 'host' }, '--oidc-client: name the issuer with --jwks and --issuer'],
    [{ roles: ['shift'] }, '--role: "shift" cannot be used; write group='],
    [{ roles: ['shift=provision'] }, '--role: "shift=provision" cannot be used'],
    [{ roles: ['shift=operate+fly'] }, '--role: "shift=operate+fly" cannot be used'],
  ])('%j are rejected', (given, problem) => {
    expect(() => readConfig({ store: 'memory:', ...given }, {}, [])).toThrow(problem)
  })
})
