/** Tests streams over HTTP: server-sent events and lines. */
import { connect } from 'node:net'
import { describe, expect, it } from 'vitest'
import { TICK_MS } from '../../../src/services/broker/streams/open-streams.ts'
import { brokerBench, NOON } from './support/bench-of-broker.ts'
import { openAnswer } from './support/open-answer.ts'

const SSE = { accept: 'text/event-stream' }
const NDJSON = { accept: 'application/x-ndjson' }

describe('a stream of server-sent events', () => {
  it('reports messages of its resource as they are acknowledged, with `resource` and an id', async () => {
    await using broker = await brokerBench()
    await using stream = await openAnswer(`${await broker.listen()}/resources/a%2Fb/events`, SSE)
    await stream.until(': here')
    await broker.api.posting.events('other', { n: 0 })
    await broker.api.posting.events('a/b', { n: 1 })
    await broker.api.posting.events('a/b', { n: 2 }, { store: false })
    await stream.until('"n":2')
    expect(stream.type).toBe('text/event-stream; charset=utf-8')
    expect(stream.text).toBe(
      `: here\n\nid: life1.2\ndata: {"resource":"a/b","n":1,"timestamp":${NOON}}\n\n` +
        `id: life1.3\ndata: {"resource":"a/b","n":2,"timestamp":${NOON}}\n\n`,
    )
  })

  it('continues after the last event that its reader saw', async () => {
    await using broker = await brokerBench()
    const url = await broker.listen()
    await broker.api.streams.subscribe('a', 'events', { signal: new AbortController().signal }).return?.()
    for (const n of [1, 2, 3]) await broker.api.posting.events('a', { n })
    await using stream = await openAnswer(`${url}/resources/a/events`, { ...SSE, 'last-event-id': 'life1.1' })
    await stream.until('"n":3')
    expect(stream.text).not.toContain('"n":1')
    expect(stream.text).toContain('"n":2')
    expect(stream.text).not.toContain('gap')
    await using browser = await openAnswer(`${url}/resources/a/events?lastEventId=life1.2`, SSE)
    await browser.until('"n":3')
    expect(browser.text).not.toContain('"n":2')
  })

  it.each([
    ['of another life', 'life0.7'],
    ['that is none', 'x'],
  ])('reports that there is a gap for an id %s', async (_what, id) => {
    await using broker = await brokerBench()
    await using stream = await openAnswer(`${await broker.listen()}/resources/a/events`, {
      ...SSE,
      'last-event-id': id,
    })
    await stream.until('event: gap\ndata: {}\n\n')
    expect(stream.status).toBe(200)
  })

  it('reports that there is a gap when what came since is kept no longer', async () => {
    await using broker = await brokerBench()
    await broker.api.streams.subscribe('a', 'events', { signal: new AbortController().signal }).return?.()
    for (let n = 1; n <= 102; n++) await broker.api.posting.events('a', { n })
    await using stream = await openAnswer(`${await broker.listen()}/resources/a/events`, {
      ...SSE,
      'last-event-id': 'life1.1',
    })
    await stream.until('"n":102')
    expect(stream.text.indexOf('event: gap')).toBeLessThan(stream.text.indexOf('"n":3,'))
    expect(stream.text).not.toContain('"n":2,')
  })

  it('gets an empty object after a minute of silence, and no sooner', async () => {
    await using broker = await brokerBench()
    await using stream = await openAnswer(`${await broker.listen()}/resources/a/events`, SSE)
    await stream.until(': here')
    broker.timers.fire(TICK_MS, 40)
    await broker.api.posting.events('a', { n: 1 })
    await stream.until('"n":1')
    broker.timers.fire(TICK_MS, 60)
    await broker.api.posting.events('a', { n: 2 })
    await stream.until('"n":2')
    expect(stream.text).not.toContain('data: {}\n')
    broker.timers.fire(TICK_MS, 61)
    await stream.until('data: {}\n\n')
  })

  it('ends when the host closes', async () => {
    const closing = new AbortController()
    await using broker = await brokerBench()
    await broker.service.start(closing.signal)
    await using stream = await openAnswer(`${await broker.listen()}/resources/a/events`, SSE)
    closing.abort()
    await stream.ended()
    expect(stream.text).toBe(': here\n\n')
  })
})

// Holds BROKER-4
describe('lines of JSON', () => {
  it('tell all messages of the tenant, and begin before the first', async () => {
    await using broker = await brokerBench()
    await using stream = await openAnswer(`${await broker.listen()}/messages`)
    expect(stream.type).toBe('application/x-ndjson')
    await broker.api.posting.events(undefined, [
      { resource: 'a', n: 1 },
      { resource: 'b', n: 2 },
    ])
    await stream.until('"n":2')
    expect(
      stream.text
        .trim()
        .split('\n')
        .map((line): unknown => JSON.parse(line)),
    ).toEqual([
      { resource: 'a', n: 1, timestamp: NOON },
      { resource: 'b', n: 2, timestamp: NOON },
    ])
  })

  it('are another form of the stream of a resource', async () => {
    await using broker = await brokerBench()
    await using stream = await openAnswer(`${await broker.listen()}/resources/a/events`, NDJSON)
    await broker.api.posting.events('a', { n: 1 })
    await stream.until('\n')
    expect(stream.text).toBe(`{"resource":"a","n":1,"timestamp":${NOON}}\n`)
  })

  it('lose messages for a reader that does not read, report how many, and slow no other reader', async () => {
    await using broker = await brokerBench()
    const url = await broker.listen()
    const { hostname, port } = new URL(url)
    const slow = connect(Number(port), hostname)
    slow.write(`GET /messages HTTP/1.1\r\nhost: x\r\n\r\n`)
    await new Promise((resolve) => slow.once('data', resolve))
    slow.pause()
    await using fast = await openAnswer(`${url}/resources/a/events`, NDJSON)
    const text = 'x'.repeat(50_000)
    let sent = 0
    while (broker.service.gauges().dropped === 0) {
      await broker.api.posting.events('a', { n: ++sent, text }, { store: false })
      await fast.until(`"n":${sent},`)
    }
    let told = ''
    slow.setEncoding('utf8').on('data', (chunk) => (told += String(chunk)))
    slow.resume()
    await expect.poll(() => told.includes('{"dropped":')).toBe(true)
    slow.destroy()
  })
})

describe('the answer to GET of a channel', () => {
  it.each<[string | undefined, string]>([
    [undefined, 'application/json'],
    ['*/*', 'application/json'],
    ['application/json', 'application/json'],
    ['text/html, application/json;q=0.9', 'application/json'],
  ])('for Accept %s is the last messages', async (accept, type) => {
    await using broker = await brokerBench()
    const answer = await broker.ask('GET', '/resources/a/events', undefined, accept === undefined ? {} : { accept })
    expect([answer.status, answer.body]).toEqual([200, []])
    expect(String(answer.headers['content-type'])).toContain(type)
  })

  it.each(['/resources/a/events', '/messages'])('at %s is 406 for a type that it does not have', async (path) => {
    await using broker = await brokerBench()
    const { status, body } = await broker.ask('GET', path, undefined, { accept: 'text/html' })
    expect([status, body]).toEqual([
      406,
      {
        error:
          'Not acceptable. You requested [text/html] but we only support [text/event-stream, application/x-ndjson, application/json]',
      },
    ])
  })
})
