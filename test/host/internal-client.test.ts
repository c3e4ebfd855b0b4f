import { Readable } from 'node:stream'
import { fastify } from 'fastify'
import { expect, it } from 'vitest'
import { InternalClient } from '../../src/host/internal-client.ts'
import type { ApiRequest } from '../../src/services/functions/contract.ts'

async function opened() {
  const issued: unknown[] = []
  let [now, ended] = [0, 0]
  const api = new InternalClient({
    issueToken: async (order) => {
      issued.push(order)
      return `token-${issued.length}`
    },
    now: () => now,
  })
  const endless = async function* () {
    try {
      for (;;) yield 'x'.repeat(10_000)
    } finally {
      ended++
    }
  }
  const app = fastify()
  await app.register(
    (own, _options, done) => {
      own.get('/seen', (request) => ({ ...request.headers, address: request.ip, url: request.url }))
      own.post('/echo', (request) => ({ body: request.body }))
      own.get('/endless', (_request, reply) => reply.type('text/plain').send(Readable.from(endless())))
      api.isAt(own)
      done()
    },
    { prefix: '/rules' },
  )
  app.get('/owner', () => 'of somebody else')
  const ask = (request: Partial<ApiRequest>) =>
    api.request(
      { tenant: 'acme', user: 'webscripts/greet' },
      { method: 'GET', path: '/seen', headers: [], ...request },
      new AbortController().signal,
    )
  return { ask, issued, ended: () => ended, pass: (ms: number) => (now += ms) }
}

it('sends requests for the tenant, with a token that is renewed before it expires', async () => {
  const { ask, issued, pass } = await opened()
  const headers = [
    ['x-own', 'yes'],
    ['Authorization', 'Basic mine'],
    ['X-Forwarded-For', '127.0.0.1'],
  ] as const
  const seen = async () => JSON.parse((await ask({ headers })).text) as Record<string, unknown>
  expect(await seen()).toMatchObject({ authorization: 'Bearer token-1', 'x-own': 'yes', address: '192.0.2.1' })
  expect(await seen()).not.toHaveProperty('x-forwarded-for')
  pass(239_000)
  expect(await seen()).toMatchObject({ authorization: 'Bearer token-1' })
  pass(2_000)
  expect(await seen()).toMatchObject({ authorization: 'Bearer token-2' })
  expect(issued[0]).toEqual({ tenant: 'acme', subject: 'webscripts/greet', lifetime: 300 })
})

it('forwards requests unchanged', async () => {
  const { ask } = await opened()
  const headers = [['content-type', 'application/json']] as const
  const answer = await ask({ method: 'POST', path: '/echo', headers, body: '{"a":[1]}' })
  expect([answer.status, JSON.parse(answer.text)]).toEqual([200, { body: { a: [1] } }])
})

it.each([
  ['/../owner', '/rules/owner'],
  ['/a/../../../owner', '/rules/owner'],
  ['/%2e%2e/owner', '/rules/owner'],
])('stays below its prefix: %s', async (path, found) => {
  const { ask } = await opened()
  const { status, text } = await ask({ path })
  expect([status, text]).toEqual([404, expect.stringContaining(found)])
})

it.each<[string, Partial<ApiRequest>, RegExp]>([
  ['another host', { path: '//127.0.0.1/seen' }, /begins with one slash/],
  ['an address', { path: 'http://127.0.0.1/seen' }, /begins with one slash/],
  ['backslashes', { path: '/\\127.0.0.1' }, /begins with one slash/],
  ['another method', { method: 'CONNECT' }, /does not support the method CONNECT/],
  ['a stream of events', { headers: [['accept', 'text/event-stream']] }, /streams of events/],
])('rejects %s', async (_, request, problem) => {
  const { ask } = await opened()
  await expect(ask(request)).rejects.toThrow(problem)
})

it('reads a response up to its limit, and discards the rest', async () => {
  const { ask, ended } = await opened()
  await expect(ask({ path: '/endless' })).rejects.toThrow(/more than 900000 bytes/)
  await expect.poll(ended).toBe(1)
})
