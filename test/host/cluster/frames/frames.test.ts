/**
 * Tests requests from one host to another in frames: in any order, bounded, and always completed, whatever happens to
 * the connection.
 */
import { EventEmitter, once } from 'node:events'
import { createServer as createHttp, request as askHttp, type IncomingMessage } from 'node:http'
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { expect, it } from 'vitest'
import type { ReadFrame } from '../../../../src/host/cluster/frames/frame-batch.ts'
import { frameKeys } from '../../../../src/host/cluster/frames/frame-keys.ts'
import {
  ASK,
  FRAMES_PATH,
  LEAVING,
  MAX_OPEN,
  NONCE_HEADER,
  PROTOCOL,
  UNTAKEN,
} from '../../../../src/host/cluster/frames/frame-kinds.ts'
import { FrameLink } from '../../../../src/host/cluster/frames/frame-link.ts'
import { HOP_HEADER, Hops } from '../../../../src/host/cluster/hop.ts'
import { atEnd, hostAt, hops, type ModelHost } from '../model-host.ts'

const NONCE = 'nonce-of-the-test-0123'

/** Routes that the test answers. */
interface Held {
  readonly add: (app: FastifyInstance) => void
  /** Requested paths, with their methods */
  readonly asked: string[]
  answer(url: string, body: string): void
}

function held(): Held {
  const asked: string[] = []
  const waiting = new Map<string, (body: string) => void>()
  return {
    asked,
    add(app) {
      app.route({
        method: ['GET', 'POST'],
        url: '/held/:name',
        handler: async ({ method, url }) => {
          asked.push(`${method} ${url}`)
          return new Promise<string>((resolve) => waiting.set(url, resolve))
        },
      })
    },
    answer: (url, body) => waiting.get(url)?.(body),
  }
}

/** Sends requests until they go in frames, since the first request only opens the connection. */
async function inFrames(host: ModelHost): Promise<void> {
  const before = host.routing.framed
  const ask = async (): Promise<number> => {
    await (await fetch(host.url)).text()
    return host.routing.framed
  }
  await expect.poll(ask, { interval: 5 }).toBeGreaterThan(before)
}

const post = (url: string): Promise<Response> => fetch(url, { method: 'POST' })

async function listening(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd(() => new Promise((resolve) => server.close(resolve)))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Proxies connections to a host; `cut` ends all of them. */
async function wire(to: string): Promise<{ readonly url: string; cut(): void }> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    const other = connect(Number(new URL(to).port), '127.0.0.1')
    for (const [one, next] of [
      [socket, other],
      [other, socket],
    ] as const) {
      sockets.add(one.on('error', () => undefined).once('close', () => next.destroy()))
      one.pipe(next)
    }
  })
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  atEnd(async () => cut())
  return { url: await listening(server), cut }
}

/** Opens a connection like a host does. */
async function linkTo(host: ModelHost, secret = hops) {
  const path = `${FRAMES_PATH}?nonce=${NONCE}`
  const headers = {
    connection: 'upgrade',
    upgrade: PROTOCOL,
    [HOP_HEADER]: hops.sign('GET', path, { count: 1, term: 0 }),
  }
  const [answer, socket] = (await once(askHttp(host.url + path, { headers, agent: false }).end(), 'upgrade')) as [
    IncomingMessage,
    Socket,
  ]
  const { asking, owner } = frameKeys(secret, NONCE, String(answer.headers[NONCE_HEADER]))
  const frames: ReadFrame[] = []
  const closed = once(socket, 'close')
  const link = new FrameLink(socket, asking, owner, { frame: (one) => frames.push(one), closed: () => undefined })
  atEnd(async () => socket.destroy())
  return { link, frames, closed }
}

const headOf = (url: string): string => JSON.stringify(['GET', url, {}, 1, 1, 0, ''])

// Holds FRAMES-2
it('FRAMES-2: responses arrive when they are ready, regardless of earlier requests', async () => {
  const { add, asked, answer } = held()
  const second = await hostAt({ kind: 'here', term: 1 }, 'acme', 100, add)
  const first = await hostAt({ kind: 'elsewhere', term: 1, url: second.url })
  await inFrames(first)
  const slow = fetch(`${first.url}/held/slow`)
  await expect.poll(() => asked.length).toBe(1)
  const before = first.routing.framed
  for (let n = 0; n < 20; n += 1) expect(await (await fetch(first.url)).json()).toEqual({ at: second.url })
  expect(first.routing.framed - before).toBe(20)
  answer('/held/slow', 'at last')
  expect(await (await slow).text()).toBe('at last')
})

it('a request continues in frames from one host to the next, twice at most', async () => {
  const third = await hostAt({ kind: 'here', term: 3 })
  const second = await hostAt({ kind: 'elsewhere', term: 3, url: third.url })
  const first = await hostAt({ kind: 'elsewhere', term: 2, url: second.url })
  await inFrames(second)
  await inFrames(first)
  const framed = [first, second].map(({ routing }) => routing.framed)
  expect(await (await fetch(first.url)).json()).toEqual({ at: third.url })
  expect([first, second].map(({ routing }) => routing.framed)).toEqual(framed.map((count) => count + 1))
  third.place = { kind: 'elsewhere', term: 3, url: first.url }
  expect((await fetch(first.url)).status).toBe(503)
})

// Holds FRAMED-1, FRAMES-3
it.each([10, 200_000, 3_000_000])('FRAMED-1: a response of %i bytes in pieces is complete', async (size) => {
  const text = 'ä'.repeat(size / 2)
  const second = await hostAt({ kind: 'here', term: 1 }, 'acme', 100, (app) =>
    app.get('/large', async (_request, reply) => {
      reply.raw.writeHead(201, { 'x-own': 'one', 'set-cookie': ['a=1', 'b=2'] })
      reply.hijack()
      reply.raw.write(text.slice(0, 1))
      reply.raw.end(text.slice(1))
    }),
  )
  const first = await hostAt({ kind: 'elsewhere', term: 1, url: second.url })
  await inFrames(first)
  const answers = await Promise.all([1, 2, 3].map(() => fetch(`${first.url}/large`)))
  for (const answer of answers) {
    expect([answer.status, answer.headers.get('x-own'), answer.headers.getSetCookie()]).toEqual([
      201,
      'one',
      ['a=1', 'b=2'],
    ])
    expect((await answer.text()) === text).toBe(true)
  }
})

it('an interrupted response is an error for a client, even if it has begun', async () => {
  const second = await hostAt({ kind: 'here', term: 1 }, 'acme', 100, (app) => {
    app.post('/none', async (_request, reply) => reply.hijack().raw.destroy())
    app.post('/half', async (_request, reply) => {
      reply.hijack().raw.write('half')
      reply.raw.destroy()
    })
  })
  const first = await hostAt({ kind: 'elsewhere', term: 1, url: second.url })
  await inFrames(first)
  expect((await post(`${first.url}/none`)).status).toBe(503)
  await expect(post(`${first.url}/half`).then((answer) => answer.text())).rejects.toThrow(/terminated|fetch failed/)
})

it('the owner stops waiting for a client that disconnects', async () => {
  const seen = new EventEmitter()
  const [gone, asked] = [once(seen, 'gone'), once(seen, 'asked')]
  const second = await hostAt({ kind: 'here', term: 1 }, 'acme', 100, (app) =>
    app.get('/endless', (_request, reply) => {
      reply.raw.once('close', () => seen.emit('gone'))
      seen.emit('asked')
    }),
  )
  const first = await hostAt({ kind: 'elsewhere', term: 1, url: second.url })
  await inFrames(first)
  const asking = askHttp(`${first.url}/endless`, { agent: false }).on('error', () => undefined)
  asking.end()
  await asked
  asking.destroy()
  expect(await gone).toEqual([])
})

// Holds FRAMED-1
it('FRAMED-1: when the connection is lost, reads go to the next host, and writes are rejected and not repeated', async () => {
  const { add, asked } = held()
  const second = await hostAt({ kind: 'here', term: 1 }, 'acme', 100, add)
  const third = await hostAt({ kind: 'here', term: 2 }, 'acme', 100, (app) =>
    app.all('/held/:name', async () => 'third'),
  )
  const { url, cut } = await wire(second.url)
  const first = await hostAt({ kind: 'elsewhere', term: 1, url })
  await inFrames(first)
  const reading = fetch(`${first.url}/held/read`)
  const writing = post(`${first.url}/held/written`)
  await expect.poll(() => asked.length).toBe(2)
  first.place = { kind: 'elsewhere', term: 2, url: third.url }
  cut()
  const refused = await writing
  expect([refused.status, refused.headers.get('retry-after'), await refused.text()]).toEqual([
    503,
    '1',
    expect.stringContaining('the outcome is unknown'),
  ])
  // it is not known when the other host notices the closed connection
  const looking = setInterval(() => first.routing.looked(new Set([url, third.url])), 5)
  expect(await (await reading).text()).toBe('third')
  clearInterval(looking)
  expect(asked.toSorted()).toEqual(['GET /held/read', 'POST /held/written'])
})

// Holds FRAMES-4
it('FRAMES-4: a stopping host accepts nothing more, responds to open requests, and exits', async () => {
  const { add, asked, answer } = held()
  const host = await hostAt({ kind: 'here', term: 1 }, 'acme', 100, add)
  const { link, frames, closed } = await linkTo(host)
  link.send(ASK, 1, headOf('/held/one'))
  await expect.poll(() => asked).toEqual(['GET /held/one'])
  const closing = host.app.close()
  await expect.poll(() => frames.map(({ kind }) => kind)).toEqual([LEAVING])
  link.send(ASK, 2, headOf('/held/two'))
  await expect.poll(() => frames.map(({ kind, number }) => [kind, number])).toContainEqual([UNTAKEN, 2])
  answer('/held/one', 'one')
  await expect.poll(() => frames.at(-1)?.body.toString()).toBe('one')
  expect(asked).toEqual(['GET /held/one'])
  link.close()
  await Promise.all([closed, closing])
})

// Holds FRAMES-4
it('FRAMES-4: requests that a stopping host did not accept go to the next host', async () => {
  const { add, asked, answer } = held()
  const second = await hostAt({ kind: 'here', term: 1 }, 'acme', 100, add)
  const first = await hostAt({ kind: 'elsewhere', term: 1, url: second.url })
  await inFrames(first)
  const early = post(`${first.url}/held/early`)
  await expect.poll(() => asked.length).toBe(1)
  const closing = second.app.close()
  const late = post(first.url)
  await expect.poll(() => first.routing.forwarded).toBeGreaterThan(2)
  first.place = { kind: 'here', term: 2 }
  const looking = setInterval(() => first.routing.looked(new Set([second.url])), 5)
  expect(await (await late).json()).toMatchObject({ at: first.url })
  clearInterval(looking)
  answer('/held/early', 'early')
  expect(await (await early).text()).toBe('early')
  await closing
})

// Holds FRAMES-1
it('FRAMES-1: connections and frames of other senders are rejected', async () => {
  const { add, asked } = held()
  const host = await hostAt({ kind: 'here', term: 1 }, 'acme', 100, add)
  const path = `${FRAMES_PATH}?nonce=${NONCE}`
  const forged = new Hops(Buffer.from('another secret'), () => 1_000).sign('GET', path, { count: 1, term: 0 })
  for (const mark of [undefined, forged, hops.sign('GET', FRAMES_PATH, { count: 1, term: 0 })]) {
    const answer = await fetch(host.url + path, { headers: mark === undefined ? {} : { [HOP_HEADER]: mark } })
    expect([answer.status, await answer.json()]).toMatchObject([
      403,
      { error: 'only hosts of the cluster may use this route' },
    ])
  }
  // knowing a host's mark does not mean knowing the secret
  const { link, closed } = await linkTo(host, new Hops(Buffer.from('another secret'), () => 1_000))
  link.send(ASK, 1, headOf('/held/one'))
  await closed
  expect(asked).toEqual([])
})

// Holds FRAMES-3
it.each<[string, (link: FrameLink) => void]>([
  [
    'more requests than are allowed are open',
    (link) => {
      for (let n = 0; n <= MAX_OPEN; n += 1) link.send(ASK, n, headOf(`/held/${n}`))
    },
  ],
  [
    'a number is used twice',
    (link) => {
      for (let n = 0; n < 2; n += 1) link.send(ASK, 7, headOf('/held/seven'))
    },
  ],
  ['a frame has no meaning', (link) => link.send(99, 1)],
  ['a head is no JSON', (link) => link.send(ASK, 1, 'GET /')],
])('FRAMES-3: a connection ends when %s', async (_, send) => {
  const host = await hostAt({ kind: 'here', term: 1 }, 'acme', 100, held().add)
  const { link, closed } = await linkTo(host)
  send(link)
  await closed
  // only that connection has ended
  expect((await fetch(host.url)).status).toBe(200)
})

// Holds FRAMED-2
it('FRAMED-2: requests to a host without frames are sent without them', async () => {
  const asked: string[] = []
  const server = createHttp(({ url = '' }, response) => {
    asked.push(url.split('?', 1)[0] ?? '')
    response.writeHead(url === '/' ? 200 : 404).end('old')
  })
  const url = await listening(server)
  const first = await hostAt({ kind: 'elsewhere', term: 1, url })
  for (let n = 0; n < 5; n += 1) {
    expect(await (await post(first.url)).text()).toBe('old')
    await expect.poll(() => asked.filter((one) => one === FRAMES_PATH).length).toBe(1)
  }
  expect([first.routing.framed, first.routing.forwarded]).toEqual([0, 5])
  server.closeAllConnections()
})

it('a request with a header that occurs twice continues with both', async () => {
  const second = await hostAt({ kind: 'here', term: 1 }, 'acme', 100, (app) =>
    app.get('/headers', async ({ raw }) => raw.headersDistinct['x-own']),
  )
  const first = await hostAt({ kind: 'elsewhere', term: 1, url: second.url })
  await inFrames(first)
  const asking = askHttp(`${first.url}/headers`, { headers: { 'x-own': ['one', 'two'] } }).end()
  const [answer] = (await once(asking, 'response')) as [IncomingMessage]
  expect(JSON.parse((await answer.toArray()).join(''))).toEqual(['one', 'two'])
})
