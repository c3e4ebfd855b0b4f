/** Tests the HTTP responses to posts and reads. */
import { describe, expect, it } from 'vitest'
import type { Forwarding } from '../../../src/services/broker/contract.ts'
import { deferred } from '../../support/deferred.ts'
import { brokerBench, NOON } from './support/bench-of-broker.ts'

const t = { timestamp: NOON }

// Holds INGEST-3
describe('a post over HTTP', () => {
  const one = 'Published message async for a'
  const two = [
    { resource: 'a', x: 1 },
    { resource: 'b', x: 2 },
  ]
  it.each<[string, string, unknown, string, unknown]>([
    ['an object', '/resources/a/events', { x: 1 }, one, { x: 1, ...t }],
    ['an object, at its old path', '/resources/a', { x: 1 }, one, { x: 1, ...t }],
    ['an object to all', '/messages', two[0], one, { ...two[0], ...t }],
    ['an array of one', '/resources/a/events', [{ x: 1 }], 'Batch uploaded 1 messages for resource a', {}],
    ['an array', '/resources/a/events', [{ x: 1 }, { x: 2 }], 'Batch uploaded 2 messages for resource a', {}],
    ['distinct resources', '/messages', two, 'Published 2 messages async', two.map((each) => ({ ...each, ...t }))],
    ['a repeated resource', '/messages', [...two, two[0]], 'Batch uploaded 3 messages for 2 resources', {}],
    ['a command', '/resources/a/commands', { name: 'on' }, 'Published command for a', { name: 'on', ...t }],
    ['an id with slashes', '/resources/a%2F%20%C3%BC/events', {}, 'Published message async for a/ ü', t],
  ])('of %s is answered', async (_what, url, body, message, content) => {
    await using broker = await brokerBench()
    const { status, body: answer } = await broker.ask('POST', url, body)
    expect([status, answer]).toEqual([200, { message, content }])
  })

  it('is rejected with 429 and Retry-After when too much waits', async () => {
    const stored = deferred()
    const engine: Forwarding = {
      receive: (_posts, _writes, followed) => stored.promise.then(() => followed({ first: 0, last: 0 })),
    }
    await using broker = await brokerBench({ limits: { posts: 2 }, engine: () => engine })
    const post = (x: number) => broker.ask('POST', '/resources/a/events?store=false', { x })
    const waiting = [post(1), post(2)]
    const refused = await post(3)
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '1'])
    stored.resolve()
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200])
    expect((await post(4)).status).toBe(200)
  })
})

describe('the messages of a resource', () => {
  it('are given newest first, without `resource`, by timestamp and then by arrival', async () => {
    await using broker = await brokerBench()
    for (const message of [
      { n: 1, timestamp: 5 },
      { n: 2, timestamp: 9 },
      { n: 3, timestamp: 5 },
    ]) {
      await broker.api.posting.events('a', { resource: 'a', ...message })
    }
    const { body } = await broker.ask('GET', '/resources/a/messages')
    expect(body).toEqual([
      { n: 2, timestamp: 9 },
      { n: 3, timestamp: 5 },
      { n: 1, timestamp: 5 },
    ])
    expect((await broker.ask('GET', '/resources/a/events')).body).toEqual(body)
    expect((await broker.ask('GET', '/resources/a/messages?limit=1')).body).toEqual([{ n: 2, timestamp: 9 }])
    expect((await broker.ask('GET', '/resources/a/current')).body).toEqual({ n: 2, timestamp: 9 })
  })

  it('do not hold its commands', async () => {
    await using broker = await brokerBench()
    await broker.ask('POST', '/resources/a/commands', { name: 'on' })
    expect((await broker.ask('GET', '/resources/a/messages')).body).toEqual([])
    expect((await broker.ask('GET', '/resources/a/commands')).body).toEqual([{ name: 'on', ...t }])
    expect(await broker.storage.tenant('acme').series.latest('a')).toEqual([])
  })

  it('are the last hundred, of each channel, when all that is due was let go', async () => {
    await using broker = await brokerBench()
    for (let n = 0; n < 500; n++) {
      await broker.api.posting.events('a', { n })
      if (n % 2 === 0) await broker.api.posting.command('a', { name: 'c', n })
    }
    const { series } = broker.storage.tenant('acme')
    expect((await broker.api.messages.last('a')).map(({ n }) => n)).toEqual(
      Array.from({ length: 100 }, (_, i) => 499 - i),
    )
    expect(await broker.api.messages.last('a', 'commands')).toHaveLength(100)
    await broker.service.stop()
    const kept = await series.messages({ resource: 'a', stream: 'events', limit: 1000 })
    expect(kept.length).toBeLessThan(320)
    expect(kept.length).toBeGreaterThanOrEqual(100)
    // samples are kept
    expect(await series.range({ resources: ['a'], metric: 'n' })).toHaveLength(1)
  })
})
