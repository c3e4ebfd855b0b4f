/** Tests the broker's WebSockets. */
import { EventEmitter, once } from 'node:events'
import { setImmediate as turn } from 'node:timers/promises'
import type { FastifyRequest } from 'fastify'
import { describe, expect, it } from 'vitest'
import { WebSocket as Client, type WebSocket as Server } from 'ws'
import type { InternalBroker, Posted } from '../../../src/services/broker/contract.ts'
import { OpenStreams, TICK_MS } from '../../../src/services/broker/streams/open-streams.ts'
import { Sockets } from '../../../src/services/broker/streams/sockets.ts'
import { Frames } from '../../../src/services/broker/streams/frames.ts'
import { until } from '../../support/until.ts'
import { brokerBench, NOON, type BrokerBench } from './support/bench-of-broker.ts'

function containing(text: string): unknown {
  return expect.stringContaining(text)
}

class Socket implements AsyncDisposable {
  readonly frames: unknown[] = []
  readonly client: Client
  closed: { readonly code: number; readonly reason: string } | undefined

  private constructor(client: Client) {
    this.client = client
    client.on('message', (data: Buffer) => this.frames.push(JSON.parse(data.toString('utf8'))))
    client.on('close', (code, reason) => (this.closed = { code, reason: reason.toString('utf8') }))
  }

  static async open(url: string): Promise<Socket> {
    const socket = new Socket(new Client(url.replace('http', 'ws')))
    await once(socket.client, 'open')
    return socket
  }

  /** Resolves when `count` frames have arrived. */
  async has(count: number): Promise<readonly unknown[]> {
    await until(() => this.frames.length >= count)
    return this.frames
  }

  async isClosed(): Promise<{ readonly code: number; readonly reason: string }> {
    while (this.closed === undefined) await new Promise(setImmediate)
    return this.closed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.client.terminate()
    await this.isClosed()
  }
}

/** The server's end of a socket whose frames the test reads. */
class ReadingSocket extends EventEmitter {
  isPaused = false

  pause(): void {
    this.isPaused = true
  }

  resume(): void {
    this.isPaused = false
  }

  /** Delivers frames until the socket is paused; returns how many. */
  readAll(text: string, most: number): number {
    let count = 0
    for (; count < most && !this.isPaused; count++) this.emit('message', Buffer.from(text), false)
    return count
  }
}

async function stored(broker: BrokerBench, resource: string, count: number): Promise<readonly unknown[]> {
  for (;;) {
    const messages = await broker.api.messages.last(resource)
    if (messages.length >= count) return messages
    await new Promise(setImmediate)
  }
}

// Holds SOCKET-1, SOCKET-2
describe('a socket that publishes', () => {
  it.each([
    ['/resources/a/events/publish', { n: 1 }],
    ['/resources/a/events', { n: 1 }],
    ['/socket', { resource: 'a', n: 1 }],
    ['/socket', [{ resource: 'a', n: 1 }]],
  ])('at %s posts each frame', async (path, frame) => {
    await using broker = await brokerBench()
    await using socket = await Socket.open(`${await broker.listen()}${path}`)
    socket.client.send(JSON.stringify(frame))
    expect(await stored(broker, 'a', 1)).toEqual([{ n: 1, timestamp: NOON }])
    expect(broker.engine.messages).toHaveLength(1)
    expect(socket.frames).toEqual([])
  })

  it('posts with the options of its query', async () => {
    await using broker = await brokerBench()
    await using socket = await Socket.open(`${await broker.listen()}/resources/a/events/publish?forward=false&apiKey=k`)
    socket.client.send('{"n":1}')
    await stored(broker, 'a', 1)
    expect(broker.engine.messages).toEqual([])
  })

  it('sends commands', async () => {
    await using broker = await brokerBench()
    const url = await broker.listen()
    await using publisher = await Socket.open(`${url}/resources/a/commands/publish`)
    await using subscriber = await Socket.open(`${url}/resources/a/commands`)
    publisher.client.send('{"name":"on"}')
    expect(await subscriber.has(1)).toEqual([{ resource: 'a', name: 'on', timestamp: NOON }])
  })

  it('receives what is wrong with a frame, and continues', async () => {
    await using broker = await brokerBench()
    await using socket = await Socket.open(`${await broker.listen()}/socket`)
    socket.client.send('{"resource":')
    socket.client.send('{"n":1}')
    socket.client.send(Buffer.from('{"resource":"a"}'), { binary: true })
    socket.client.send('{"resource":"a","n":2}')
    await stored(broker, 'a', 1)
    const frames = await socket.has(3)
    expect(frames).toEqual(
      expect.arrayContaining([
        { error: 'Json parse error', details: [containing('/ <- ')] },
        {
          error: containing('/resource <- is missing'),
          details: ['/resource <- is missing (add the resource of the message)'],
        },
        { error: containing('Frames are text') },
      ]),
    )
    expect(socket.closed).toBeUndefined()
  })

  it.each([
    ['store=perhaps', '/store <- Boolean value expected'],
    ['stroe=false', '/stroe <- is not a parameter of this request (write one of store, forward, ttl)'],
    ['store=false&store=true', '/store <- was sent 2 times (send it once)'],
  ])('is closed when its query cannot be used: %s', async (query, problem) => {
    await using broker = await brokerBench()
    await using socket = await Socket.open(`${await broker.listen()}/socket?${query}&apiKey=k&apiSecret=s`)
    expect(await socket.isClosed()).toEqual({ code: 1008, reason: 'the query cannot be used' })
    expect(socket.frames).toEqual([expect.objectContaining({ details: [problem] })])
  })

  it('keeps the order of its frames, however many', async () => {
    await using broker = await brokerBench()
    await using socket = await Socket.open(`${await broker.listen()}/resources/a/events/publish`)
    for (let n = 0; n < 1000; n++) socket.client.send(JSON.stringify({ n, timestamp: NOON + n }))
    await until(() => broker.engine.messages.length >= 1000)
    expect(broker.engine.messages.map(({ n }) => n)).toEqual(Array.from({ length: 1000 }, (_, n) => n))
  })

  // Holds SOCKET-4
  it('is not read on while too many of its posts are not durable, and then is', async () => {
    const socket = new ReadingSocket()
    const posts: (() => void)[] = []
    const events = () => new Promise<Posted>((resolve) => posts.push(() => resolve({ message: 'taken', content: {} })))
    const service = { as: () => ({ posting: { events } }) } as unknown as InternalBroker
    const request = { params: { id: 'a' }, query: {}, tenant: 'acme' } as Partial<FastifyRequest> as FastifyRequest
    new Sockets(service, { frames: new Frames('life'), open: new OpenStreams() }).publish('events')(
      socket as unknown as Server,
      request,
    )
    const frames = socket.readAll('{"n":1}', 1000)
    expect(frames).toBe(256)
    expect(posts).toHaveLength(256)
    posts.splice(0, 128).forEach((end) => end())
    await turn()
    expect(socket.isPaused).toBe(true)
    posts.splice(0, 1).forEach((end) => end())
    await turn()
    expect(socket.isPaused).toBe(false)
    expect(socket.readAll('{"n":2}', 1000)).toBe(129)
  })

  it('is closed for a frame that is too large', async () => {
    await using broker = await brokerBench()
    await using socket = await Socket.open(`${await broker.listen()}/socket`)
    socket.client.send('x'.repeat(1_000_001))
    expect((await socket.isClosed()).code).toBe(1009)
  })
})

// Holds SOCKET-3
describe('a socket that subscribes', () => {
  it.each(['/resources/a/events/subscribe', '/resources/a/socket'])('at %s is sent messages', async (path) => {
    await using broker = await brokerBench()
    await using socket = await Socket.open(`${await broker.listen()}${path}`)
    await broker.api.posting.events('b', { n: 0 })
    await broker.api.posting.events('a', { n: 1 })
    expect(await socket.has(1)).toEqual([{ resource: 'a', n: 1, timestamp: NOON }])
  })

  it('gets an empty object after a minute of silence', async () => {
    await using broker = await brokerBench()
    await using socket = await Socket.open(`${await broker.listen()}/resources/a/socket`)
    broker.timers.fire(TICK_MS, 59)
    broker.timers.fire(TICK_MS, 1)
    await socket.has(1)
    // no message came before this one
    await broker.api.posting.events('a', { n: 1 })
    expect(await socket.has(2)).toEqual([{}, { resource: 'a', n: 1, timestamp: NOON }])
  })

  it('is rejected on a socket for subscribers', async () => {
    await using broker = await brokerBench()
    await using socket = await Socket.open(`${await broker.listen()}/resources/a/events/subscribe`)
    socket.client.send('{"n":1}')
    expect(await socket.has(1)).toEqual([
      { error: 'This socket only sends messages to the client; open .../publish to send messages' },
    ])
    expect(broker.engine.messages).toEqual([])
  })

  it('is closed with a reason when the host closes', async () => {
    const closing = new AbortController()
    await using broker = await brokerBench()
    await broker.service.start(closing.signal)
    await using socket = await Socket.open(`${await broker.listen()}/resources/a/socket`)
    closing.abort()
    expect(await socket.isClosed()).toEqual({ code: 1001, reason: 'the host is closing' })
  })

  it('that reads nothing loses messages, slows no other reader, and is closed after a minute', async () => {
    await using broker = await brokerBench()
    const url = await broker.listen()
    await using slow = await Socket.open(`${url}/resources/a/socket`)
    await using fast = await Socket.open(`${url}/resources/a/socket`)
    slow.client.pause()
    const text = 'x'.repeat(50_000)
    let sent = 0
    while (broker.service.gauges().dropped === 0) {
      await broker.api.posting.events('a', { n: ++sent, text }, { store: false })
      await fast.has(sent)
    }
    expect(broker.service.gauges().subscribers).toBe(2)
    broker.timers.fire(TICK_MS, 60)
    await until(() => broker.service.gauges().subscribers === 1)
    slow.client.resume()
    await slow.isClosed()
    expect(fast.closed).toBeUndefined()
  })
})

describe('a path that is a socket only', () => {
  it('reports it over HTTP', async () => {
    await using broker = await brokerBench()
    const { status, body, headers } = await broker.ask('GET', '/resources/a/socket')
    expect([status, headers['upgrade'], body]).toEqual([
      426,
      'websocket',
      { error: 'This path is a WebSocket: request an upgrade' },
    ])
  })
})
