/**
 * Sends a request to every route, at a cluster host that does not own the tenant: the response must equal the owner's.
 * This finds services that work only on one host.
 */
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { WebSocket } from 'ws'
import { createApp } from '../../../src/host/app.ts'
import { compose } from '../../../src/host/compose.ts'
import { readConfig } from '../../../src/host/config.ts'
import type { RunningHost } from '../../../src/host/running-host.ts'
import { SERVICES } from '../../../src/host/wiring/service-table.ts'
import {
  ApiStory,
  ENDLESS,
  JSON_TYPE,
  operationsOf,
  type Answer,
  type ApiDocument,
  type Ask,
  type Operation,
} from '../api-story.ts'
import { printedRoutes } from '../printed-routes.ts'
import { basic } from '../sample-host.ts'
import { memoryHosts, type MemoryHosts } from './memory-hosts.ts'

interface Asked {
  readonly method: string
  readonly path: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

const json = (method: string, path: string, body: string): Asked => ({
  method,
  path,
  body,
  headers: { 'content-type': JSON_TYPE },
})

const LONG = `{"text":"${'ä'.repeat(30_000)}","timestamp":1795000000000}`
/**
 * Requests whose responses must be equal byte for byte. The second request is sent in frames, unless requests are
 * rejected at once.
 */
const ALIKE: readonly (readonly [string, Asked])[] = [
  ['what it serves', { method: 'GET', path: '/' }],
  ['a list', { method: 'GET', path: '/api/tasks?limit=2' }],
  ['a task', { method: 'GET', path: '/api/tasks/nothing-%C3%A4' }],
  ['a head', { method: 'HEAD', path: '/api/tasks' }],
  ['a text with many characters', { method: 'GET', path: '/resources/boiler-%C3%A4' }],
  [
    'a message',
    json(
      'POST',
      '/resources/boiler-1/events?store=false',
      '{"temperature":93,"name":"ä€😀","timestamp":1795000000000}',
    ),
  ],
  ['several problems at once', json('POST', '/api/tasks', '{"task":{"type":"odd"},"sensors":{}}')],
  ['what is no JSON', json('POST', '/resources/boiler-1/events', '{"a":')],
  ['an empty body', json('POST', '/resources/boiler-1/events', '')],
  ['bytes that are no UTF-8', json('POST', '/resources/boiler-1/events', '\u00ff\u00fe')],
  [
    'a type that nobody reads',
    { method: 'POST', path: '/api/tasks', body: '<a/>', headers: { 'content-type': 'text/xml' } },
  ],
  [
    'a charset that nobody reads',
    { method: 'POST', path: '/api/tasks', body: '{}', headers: { 'content-type': 'application/json; charset=utf-16' } },
  ],
  [
    'a coding that nobody reads',
    {
      method: 'POST',
      path: '/api/tasks',
      body: '{}',
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    },
  ],
  ['a task that does not exist', { method: 'GET', path: '/api/tasks/nothing' }],
  ['a parameter that nobody reads', { method: 'GET', path: '/api/tasks?stroe=1&stroe=2' }],
  ['strict handling', { method: 'GET', path: '/api/tasks?stroe=1', headers: { prefer: 'handling=strict' } }],
  ['a path that does not exist', { method: 'GET', path: '/nowhere' }],
  ['a method that does not exist', { method: 'PATCH', path: '/api/tasks' }],
  ['a path that cannot be read', { method: 'GET', path: '/api/tasks/%ff' }],
  [
    'a delete without a body that names a type',
    { method: 'DELETE', path: '/api/tasks/nothing', headers: { 'content-type': 'application/json' } },
  ],
  ['a body of an object that does not exist', { method: 'GET', path: '/reflexarc-nothing-here/key' }],
  ['a long answer, which comes in pieces', json('POST', '/resources/boiler-1/events?store=false', LONG)],
]

/** Routes where each host reports on itself, and a link without a signature, which belongs to no tenant. */
const OWN = /^\/(?:docs|health|live|ready|metrics|cluster|console|auth\/v1\/session|alarm\/links\/one)(?:\/|$)/

let cluster: MemoryHosts
let owner: RunningHost
let other: RunningHost
let tenant: string
let operations: readonly Operation[]

const askAt =
  (host: RunningHost): Ask =>
  async ({ method = 'GET', url, headers = {}, payload }) => {
    const answer = await fetch(host.url + url, {
      method,
      headers: { authorization: basic(tenant, 's'), ...headers },
      ...(payload !== undefined && { body: typeof payload === 'string' ? payload : new Uint8Array(payload) }),
      redirect: 'manual',
    })
    const rawPayload = Buffer.from(await answer.arrayBuffer())
    const shown = Object.fromEntries(answer.headers)
    return { statusCode: answer.status, headers: shown, body: rawPayload.toString(), rawPayload }
  }

beforeAll(async () => {
  cluster = await memoryHosts(2, { functions: 'trusted' })
  const [first, second] = cluster.hosts
  owner = first ?? expect.fail('no host')
  other = second ?? expect.fail('no other host')
  tenant = await cluster.tenantAt(owner)
  operations = operationsOf(JSON.parse((await askAt(other)({ url: '/docs/json' })).body) as ApiDocument)
})
afterAll(() => cluster.stop())

/** Reduces a value to what responses given one after another share, without times, signatures and counts. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf)
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, shapeOf(one)]))
  return typeof value
}

function shownOf({ statusCode, headers, body }: Answer): unknown {
  const [type = ''] = String(headers['content-type']).split(';')
  const json = type === 'application/json' && body !== ''
  return { statusCode, type, body: json ? shapeOf(JSON.parse(body)) : body.length > 0 }
}

/**
 * Compares the responses of both hosts for one URL, repeatedly until they agree, since work continues in the
 * background.
 */
async function compare(url: string): Promise<void> {
  await expect
    .poll(
      async () => {
        const [here, there] = await Promise.all([askAt(owner)({ url }), askAt(other)({ url })])
        return JSON.stringify(shownOf(here)) === JSON.stringify(shownOf(there))
          ? 'the same'
          : { url, here: here.body, there: there.body }
      },
      { timeout: 20_000 },
    )
    .toBe('the same')
}

async function routesOfOneAlone(): Promise<readonly string[]> {
  const composed = await compose(readConfig({ store: 'memory:', empty: true }, {}, [...SERVICES.keys()]))
  const app = await createApp({ ...composed, log: { level: 'silent', stream: { write: () => {} } } })
  const routes = printedRoutes(app).map(({ method, url }) => `${method} ${url}`)
  await app.close()
  return routes
}

describe('a host of a cluster that does not own the tenant', () => {
  it('has every route of a single host', async () => {
    const routes = printedRoutes(other.app).map(({ method, url }) => `${method} ${url}`)
    expect(routes.filter((one) => !one.includes(' /cluster/')).toSorted()).toEqual(
      (await routesOfOneAlone()).toSorted(),
    )
  })

  it('forwards every request of the tenant to its owner, and returns the response', async () => {
    const failed: unknown[] = []
    for (const { method, url } of printedRoutes(other.app)) {
      if (OWN.test(url)) continue
      // webscript calls and object contents contain the tenant in their path
      const named = url
        .replace(/^(\/(?:api|functions)\/v1\/)one(?=\/|$)/, `$1${tenant}`)
        .replace(/^(\/reflexarc-ws-)one/, `$1assets-${tenant}`)
      // adds an unknown parameter: writes reject it, and reads must in strict mode
      const asked = {
        method,
        url: `${named}?stroe=false`,
        headers: {
          prefer: 'handling=strict',
          ...(method !== 'GET' && method !== 'DELETE' && { 'content-type': JSON_TYPE }),
        },
        ...(method !== 'GET' && method !== 'DELETE' && { payload: '{}' }),
      }
      const [here, there] = await Promise.all([askAt(owner)(asked), askAt(other)(asked)])
      const isHanded = there.headers['reflexarc-owner'] === owner.url && here.headers['reflexarc-owner'] === undefined
      const isSame = JSON.stringify(shownOf(here)) === JSON.stringify(shownOf(there))
      if (!isHanded || !isSame || there.statusCode >= 500)
        failed.push([method, url, here.statusCode, here.body, there.statusCode, there.body, isHanded])
    }
    expect(failed).toEqual([])
  })

  it.each(ALIKE)('responds like the owner, byte for byte: %s', async (_, { method, path, body = '', headers = {} }) => {
    const bytes = Buffer.from(body, body === '\u00ff\u00fe' ? 'latin1' : 'utf8')
    const answerOf = async ({ url }: RunningHost) => {
      const sized = body === '' ? {} : { 'content-length': String(bytes.length) }
      // both hosts are called with the same `Host`, which responses may contain
      const named = {
        authorization: basic(tenant, 's'),
        host: 'cluster.example',
        'x-request-id': 'one',
        ...headers,
        ...sized,
      }
      const asking = request(url + path, { method, headers: named, agent: false }).end(bytes)
      const [answer] = (await once(asking, 'response')) as [IncomingMessage]
      const { date: _date, 'reflexarc-owner': _owner, 'reflexarc-host': _host, ...shown } = answer.headersDistinct
      const text = Buffer.concat(await answer.toArray()).toString('latin1')
      return { status: answer.statusCode, reason: answer.statusMessage, shown, text }
    }
    expect(await answerOf(other)).toEqual(await answerOf(owner))
  })

  it('accepts every example of the API, and shows the same results as the owner', async () => {
    const story = new ApiStory(askAt(other), tenant)
    await story.prepare()
    const failed: unknown[] = []
    for await (const [{ operationId }, { statusCode, body }] of story.tell(operations)) {
      if (statusCode >= 300 && operationId !== 'postAuthV1Session') failed.push([operationId, statusCode, body])
    }
    expect(failed).toEqual([])
    const page = await askAt(other)({ url: '/registry/v2/runtimes/web-node24/versions/1/example' })
    await story.upload('/registry/v2/webscripts?async=false&version=^1', page.rawPayload)
    for (const operation of operations) {
      if (operation.method !== 'get' || ENDLESS.test(operation.operationId) || OWN.test(operation.path)) continue
      await compare(story.urlOf(operation))
    }
  })

  it('begins every stream and opens every socket like the owner', async () => {
    const story = new ApiStory(askAt(other), tenant)
    const headOf = async (host: RunningHost, url: string, accept: string) => {
      const gone = new AbortController()
      const headers = { authorization: basic(tenant, 's'), accept }
      const { status, headers: shown } = await fetch(host.url + url, { headers, signal: gone.signal })
      gone.abort()
      return [url, accept, status, shown.get('content-type')]
    }
    const streams = operations.filter(
      ({ method, operationId }) => method === 'get' && /Events$|getBrokerMessages$/.test(operationId),
    )
    expect(streams.length).toBeGreaterThan(4)
    for (const stream of streams) {
      for (const accept of ['application/x-ndjson', 'text/event-stream'])
        expect(await headOf(other, story.urlOf(stream), accept)).toEqual(
          await headOf(owner, story.urlOf(stream), accept),
        )
    }
    const sockets = operations.filter(({ responses }) => Object.hasOwn(responses, '101'))
    expect(sockets.length).toBeGreaterThan(5)
    for (const socket of sockets) {
      const headers = { authorization: basic(tenant, 's') }
      const open = new WebSocket(other.url.replace('http', 'ws') + story.urlOf(socket), { headers })
      await once(open, 'open')
      open.terminate()
    }
  })
})
