/**
 * What keys of each scope may do, as an outsider finds it over sockets: every route, and every upgrade to a WebSocket,
 * with a key of every scope. The file of the scopes is an independent record; `vitest -u` writes it.
 */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { hasScope, SCOPES, type Scope } from '../../../src/kernel/rights.ts'
import { type PrintedRoute, printedRoutes } from '../printed-routes.ts'
import { basic } from '../sample-host.ts'
import { wholeHost, type WholeHost } from '../whole-host.ts'

interface Pair {
  readonly key: string
  readonly secret: string
}

let host: WholeHost
let address: string
const pairs = new Map<Scope, Pair>()
beforeAll(async () => {
  host = await wholeHost({ rateLimit: '0' })
  await host.app.listen({ host: '127.0.0.1', port: 0 })
  address = `127.0.0.1:${(host.app.server.address() as AddressInfo).port}`
  for (const scope of SCOPES) {
    const body = scope === 'provision' ? { provisioning: true } : { scopes: [scope] }
    pairs.set(scope, await host.done<Pair>('POST', '/auth/v1/keys', body))
  }
})
afterAll(() => host[Symbol.asyncDispose]())

/** Parameters that no route knows, so that a route that is open answers without an effect. */
const STRICT = { prefer: 'handling=strict', 'content-type': 'application/json' }

interface Found {
  readonly status: number
  readonly body: string
}

async function sent({ method, url }: PrintedRoute, authorization?: string): Promise<Found> {
  const body = method === 'GET' || method === 'DELETE' ? null : '{}'
  const headers = { ...STRICT, ...(authorization !== undefined && { authorization }) }
  const answer = await fetch(`http://${address}${url}?zzz=1`, { method, headers, body, redirect: 'manual' })
  const isEndless = answer.headers.get('content-type')?.startsWith('text/event-stream') === true
  if (isEndless) await answer.body?.cancel()
  return { status: answer.status, body: isEndless ? '' : await answer.text() }
}

/** Returns the answer to an upgrade: 101 for an open socket. */
async function upgraded({ url }: PrintedRoute, authorization: string): Promise<Found> {
  const socket = new WebSocket(`ws://${address}${url}`, { headers: { authorization } })
  socket.on('error', () => undefined)
  const open = once(socket, 'open').then(() => ({ status: 101, body: '' }))
  const refused = once(socket, 'unexpected-response').then(async ([, answer]) => {
    const { statusCode: status = 0 } = answer as IncomingMessage
    // other answers may not end
    return { status, body: status === 403 ? await text(answer as IncomingMessage) : '' }
  })
  const found = await Promise.race([open, refused])
  socket.terminate()
  return found
}

/** Returns the scopes for which a request is open; the others are refused with the scope that they lack. */
async function openTo(what: string, ask: (authorization: string) => Promise<Found>): Promise<readonly Scope[]> {
  const open: Scope[] = []
  for (const scope of SCOPES) {
    const { key = '', secret = '' } = pairs.get(scope) ?? {}
    const { status, body } = await ask(basic(key, secret))
    const named = /The scope ([a-z]+)(?: or (device))? is missing/.exec(body)?.slice(1) as Scope[] | undefined
    if (named === undefined) open.push(scope)
    else {
      expect([what, status]).toEqual([what, 403])
      const isIncluded = named.some((one) => one !== undefined && hasScope({ scopes: [scope] }, one))
      expect([what, scope, named, isIncluded]).toEqual([what, scope, named, false])
    }
  }
  return open
}

describe('every route', () => {
  it('is open to the scopes of the file, and no others', async () => {
    const lines: string[] = []
    for (const route of printedRoutes(host.app)) {
      const what = `${route.method} ${route.url}`
      const isPublic = (await sent(route)).status !== 401
      const open = await openTo(what, (authorization) => sent(route, authorization))
      lines.push(`${what}: ${isPublic ? 'all, without a key' : open.join(' ')}`)
    }
    await expect(`${lines.toSorted().join('\n')}\n`).toMatchFileSnapshot('../../freeze/golden/scopes.txt')
  }, 120_000)
})

it('every upgrade to a WebSocket is open to the scopes of its stream, and no others', async () => {
  const found: Record<string, string> = {}
  for (const route of printedRoutes(host.app)) {
    if (route.method !== 'GET') continue
    let sockets = 0
    // a stream is open to `admin`, if to any scope
    const { key = '', secret = '' } = pairs.get('admin') ?? {}
    if ((await upgraded(route, basic(key, secret))).status !== 101) continue
    const open = await openTo(`upgrade of ${route.url}`, async (authorization) => {
      const answer = await upgraded(route, authorization)
      if (answer.status === 101) sockets++
      return answer
    })
    expect([route.url, sockets]).toEqual([route.url, open.length])
    found[route.url] = open.join(' ')
  }
  expect(found).toEqual({
    '/resources/one/commands': 'device read operate author publish admin',
    '/resources/one/commands/publish': 'operate admin',
    '/resources/one/commands/subscribe': 'device read operate author publish admin',
    '/resources/one/events': 'device admin',
    '/resources/one/events/publish': 'device admin',
    '/resources/one/events/subscribe': 'read operate author publish admin',
    '/resources/one/socket': 'read operate author publish admin',
    '/socket': 'device admin',
  })
}, 120_000)
