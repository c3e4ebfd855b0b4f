/** What a host of a cluster answers for another one, over frames, is what that one answers: each byte of it. */
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { RunningHost } from '../../../../src/host/running-host.ts'
import { basic } from '../../sample-host.ts'
import { memoryHosts, type MemoryHosts } from '../memory-hosts.ts'

let cluster: MemoryHosts
let owner: RunningHost
let other: RunningHost
let authorization: string

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
  headers: { 'content-type': 'application/json' },
})

const LONG = `{"text":"${'ä'.repeat(30_000)}","timestamp":1795000000000}`

/** They are refused before it is known whose they are. */
const REFUSED_AT_ONCE = ['a charset that nobody reads', 'a coding that nobody reads', 'a path that cannot be read']
const ALIKE: readonly (readonly [string, Asked])[] = [
  ['what it serves', { method: 'GET', path: '/' }],
  ['a list', { method: 'GET', path: '/api/tasks?limit=2' }],
  ['a task', { method: 'GET', path: '/api/tasks/count-%C3%A4' }],
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
  ['a task that is not there', { method: 'GET', path: '/api/tasks/nothing' }],
  ['a parameter that nobody reads', { method: 'GET', path: '/api/tasks?stroe=1&stroe=2' }],
  ['strict handling', { method: 'GET', path: '/api/tasks?stroe=1', headers: { prefer: 'handling=strict' } }],
  ['a path that is not there', { method: 'GET', path: '/nowhere' }],
  ['a method that is not there', { method: 'PATCH', path: '/api/tasks' }],
  ['a path that cannot be read', { method: 'GET', path: '/api/tasks/%ff' }],
  [
    'a delete without a body that names a type',
    { method: 'DELETE', path: '/api/tasks/nothing', headers: { 'content-type': 'application/json' } },
  ],
  ['a body of an object that is not there', { method: 'GET', path: '/reflexarc-nothing-here/key' }],
  ['a long answer, which comes in pieces', json('POST', '/resources/boiler-1/events?store=false', LONG)],
]

async function ask(host: RunningHost, { method, path, body = '', headers = {} }: Asked) {
  const bytes = Buffer.from(body, body === '\u00ff\u00fe' ? 'latin1' : 'utf8')
  const { port } = new URL(host.url)
  const sized = body === '' ? {} : { 'content-length': String(bytes.length) }
  // to both under one name, which answers may tell
  const named = { authorization, host: 'cluster.example', 'x-request-id': 'the-same', ...headers, ...sized }
  const asking = request({ port, method, path, headers: named, agent: false }).end(bytes)
  const [answer] = (await once(asking, 'response')) as [IncomingMessage]
  const shown = Object.entries(answer.headersDistinct).filter(
    ([name]) => !['date', 'reflexarc-owner', 'reflexarc-host'].includes(name),
  )
  return {
    status: answer.statusCode,
    reason: answer.statusMessage,
    headers: Object.fromEntries(shown),
    body: Buffer.concat(await answer.toArray()).toString('latin1'),
  }
}

async function framed(): Promise<number> {
  const text = await (await fetch(`${other.url}/metrics`)).text()
  return Number(/thing="cluster-framed"\} (\d+)/.exec(text)?.[1])
}

beforeAll(async () => {
  cluster = await memoryHosts(2, { functions: 'off' })
  const [first, second] = cluster.hosts
  owner = first ?? expect.fail('no host')
  other = second ?? expect.fail('no other host')
  authorization = basic(await cluster.tenantAt(owner), 's')
  const task = { task: { name: 'count-ä', type: 'reactive', resource: 'boiler-1' } }
  const sensors = [{ label: 'seen', name: 'invokeCount', resource: '$' }]
  await ask(owner, json('POST', '/api/tasks', JSON.stringify({ ...task, sensors })))
  // a connection for frames is made behind the first request
  for (let n = 0; n < 1_000 && (await framed()) === 0; n += 1) await ask(other, { method: 'GET', path: '/' })
})
afterAll(() => cluster.stop())

it.each(ALIKE)('%s', async (name, asked) => {
  const before = await framed()
  const there = await ask(other, asked)
  const isFramed = (await framed()) > before
  const here = await ask(owner, asked)
  expect(there).toEqual(here)
  expect(isFramed).toBe(!REFUSED_AT_ONCE.includes(name))
})
