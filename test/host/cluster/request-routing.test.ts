import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { expect, it } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { Hops, HOP_HEADER } from '../../../src/host/cluster/hop.ts'
import { atEnd, hostAt, hops, type ModelHost } from './model-host.ts'

const post = (host: ModelHost, headers = {}): Promise<Response> =>
  fetch(`${host.url}/`, {
    method: 'POST',
    body: '{"a":1}',
    headers: { 'content-type': 'application/json', ...headers },
  })

/** Starts a server that never completes a response; it accepts upgrades. */
async function halted(answer: (response: ServerResponse) => void): Promise<string> {
  const server = createServer((_request, response) => answer(response))
  const sockets = new WebSocketServer({ server })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(async () => {
    for (const socket of sockets.clients) socket.terminate()
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

it('a request continues with its body to who has the tenant, also when that has moved meanwhile', async () => {
  const third = await hostAt({ kind: 'here', term: 3 })
  const second = await hostAt({ kind: 'elsewhere', term: 3, url: third.url })
  const first = await hostAt({ kind: 'elsewhere', term: 2, url: second.url })
  const answer = await post(first)
  expect(await answer.json()).toEqual({ at: third.url, body: { a: 1 } })
  expect(answer.headers.get('reflexarc-owner')).toContain(third.url)
})

it('lines that come later have their head at once', async () => {
  const url = await halted((response) => {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' }).flushHeaders()
  })
  const first = await hostAt({ kind: 'elsewhere', term: 2, url })
  const answer = await post(first)
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/x-ndjson'])
  await answer.body?.cancel()
})

// Holds ROUTING-1
it('ROUTING-1: requests are never forwarded in a circle', async () => {
  const first = await hostAt({ kind: 'here', term: 4 })
  const third = await hostAt({ kind: 'elsewhere', term: 4, url: first.url })
  const second = await hostAt({ kind: 'elsewhere', term: 3, url: third.url })
  first.place = { kind: 'elsewhere', term: 2, url: second.url }
  const answer = await post(first)
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
  expect([first, second, third].map(({ routing }) => routing.forwarded)).toEqual([1, 1, 0])
})

it('a host that does not know yet that a tenant is its own waits until it does', async () => {
  const second = await hostAt({ kind: 'elsewhere', term: 1, url: 'http://127.0.0.1:1' })
  const first = await hostAt({ kind: 'elsewhere', term: 2, url: second.url })
  const answering = post(first)
  await expect.poll(() => first.routing.forwarded).toBe(1)
  second.routing.looked(new Set())
  second.place = { kind: 'here', term: 2 }
  // it is not known when the response arrives
  const looking = setInterval(() => second.routing.looked(new Set()), 5)
  expect((await answering).status).toBe(200)
  clearInterval(looking)
  expect(second.routing.forwarded).toBe(0)
})

it('a host that knows better whose a request is does not wait for the term of another slot', async () => {
  const third = await hostAt({ kind: 'here', term: 1 })
  const second = await hostAt({ kind: 'elsewhere', term: 1, url: third.url })
  const first = await hostAt({ kind: 'elsewhere', term: 2, url: second.url }, 'taken for another')
  expect(await (await post(first)).json()).toMatchObject({ at: third.url })
})

// Holds ROUTING-2
it('ROUTING-2: waiting requests are rejected when their host counts as gone', async () => {
  const url = await halted(() => undefined)
  const host = await hostAt({ kind: 'elsewhere', term: 1, url })
  const answering = post(host)
  await expect.poll(() => host.routing.forwarded).toBe(1)
  host.routing.looked(new Set([url]))
  host.routing.looked(new Set())
  const answer = await answering
  expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining('the outcome is unknown')])
})

// Holds ROUTING-3
it.each([
  ['refuses connections', async () => 'http://127.0.0.1:1'],
  ['does not answer', () => halted(() => undefined)],
])('ROUTING-3: reads go to the next host when one %s', async (_, gone) => {
  const url = await gone()
  const second = await hostAt({ kind: 'here', term: 2 })
  const first = await hostAt({ kind: 'elsewhere', term: 1, url })
  const answering = fetch(`${first.url}/`)
  await expect.poll(() => first.routing.forwarded).toBe(1)
  first.place = { kind: 'elsewhere', term: 2, url: second.url }
  // it is not known when the connection is refused
  const looking = setInterval(() => first.routing.looked(new Set([second.url])), 5)
  const answer = await answering
  clearInterval(looking)
  expect([answer.status, await answer.json()]).toEqual([200, { at: second.url }])
  expect(first.routing.forwarded).toBe(2)
})

// Holds ROUTING-3
it.each([
  ['another host', async () => (await hostAt({ kind: 'here', term: 2 })).url],
  ['itself', async () => undefined],
])('ROUTING-3: what no host was asked, because it took no connection, goes to %s', async (_, next) => {
  const url = await next()
  const first = await hostAt({ kind: 'elsewhere', term: 1, url: 'http://127.0.0.1:1' })
  const answering = post(first)
  await expect.poll(() => first.routing.forwarded).toBe(1)
  first.place = url === undefined ? { kind: 'here', term: 2 } : { kind: 'elsewhere', term: 2, url }
  // it is not known when the connection is refused
  const looking = setInterval(() => first.routing.looked(new Set(url === undefined ? [] : [url])), 5)
  const answer = await answering
  clearInterval(looking)
  expect([answer.status, await answer.json()]).toEqual([200, { at: url ?? first.url, body: { a: 1 } }])
})

it('hands bytes back as they came, by a stream when there are many', async () => {
  const bodies = [Buffer.alloc(0), Buffer.from([0, 128, 255, 195, 40]), Buffer.alloc(200_000, 254)]
  let next = Buffer.alloc(0)
  const url = await halted((response) => {
    response.writeHead(201, { 'content-length': next.length, 'x-own': 'öne', 'set-cookie': ['a=1', 'b=2'] }).end(next)
  })
  const host = await hostAt({ kind: 'elsewhere', term: 1, url })
  for (const body of bodies) {
    next = body
    for (const method of ['POST', 'GET', 'HEAD']) {
      const answer = await fetch(host.url, { method, ...(method === 'POST' && { body: '{}' }) })
      const { status, headers } = answer
      const said = [status, headers.get('content-length'), headers.get('x-own'), headers.getSetCookie()]
      expect(said).toEqual([201, String(body.length), 'öne', ['a=1', 'b=2']])
      const given = Buffer.from(await answer.arrayBuffer())
      expect(given.equals(method === 'HEAD' ? Buffer.alloc(0) : body)).toBe(true)
    }
  }
})

it('rejects and counts requests to a host with too many open requests', async () => {
  const url = await halted(() => undefined)
  const host = await hostAt({ kind: 'elsewhere', term: 1, url }, 'acme', 1)
  const answering = post(host)
  await expect.poll(() => host.routing.forwarded).toBe(1)
  const answer = await post(host)
  expect([answer.status, await answer.text()]).toEqual([503, expect.stringContaining('too many pending requests')])
  expect([host.routing.forwarded, host.routing.refused]).toEqual([1, 1])
  host.routing.end()
  await answering
})

it('a client that disconnects before its body is complete leaves no state behind', async () => {
  const second = await hostAt({ kind: 'here', term: 1 })
  const first = await hostAt({ kind: 'elsewhere', term: 1, url: second.url })
  const socket = connect(Number(new URL(first.url).port), '127.0.0.1')
  socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 7\r\n\r\n{"a"')
  socket.end()
  await once(socket.resume(), 'close')
  expect((await post(first)).status).toBe(200)
  expect(first.routing.forwarded).toBe(1)
})

// Holds ROUTING-2
it('ROUTING-2: streams of a host that no longer exists end, and so do its sockets', async () => {
  const url = await halted((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(': begun')
  })
  const host = await hostAt({ kind: 'elsewhere', term: 1, url })
  const stream = await post(host)
  const socket = new WebSocket(host.url.replace('http', 'ws'))
  await once(socket, 'open')
  const ended = [stream.text(), once(socket, 'close')]
  host.routing.looked(new Set())
  expect((await Promise.allSettled(ended)).map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
})

it('only hosts that know the secret can forward: other senders are treated as clients', async () => {
  const second = await hostAt({ kind: 'here', term: 1 })
  const first = await hostAt({ kind: 'elsewhere', term: 1, url: second.url })
  const forged = new Hops(Buffer.from('another secret'), () => 1_000).sign('POST', '/', { count: 2, term: 9 })
  expect((await post(first, { [HOP_HEADER]: forged })).status).toBe(200)
  const own = hops.sign('POST', '/elsewhere', { count: 2, term: 9 })
  expect((await post(first, { [HOP_HEADER]: own })).status).toBe(200)
  const late = new Hops(Buffer.from('secret of all hosts'), () => 100_000).sign('POST', '/', { count: 2, term: 1 })
  expect((await post(first, { [HOP_HEADER]: late })).status).toBe(200)
})
