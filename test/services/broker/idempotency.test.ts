import { describe, expect, it } from 'vitest'
import { POST_KEYS } from '../../../src/services/broker/posting/idempotency.ts'
import { brokerBench } from './support/bench-of-broker.ts'

const key = { 'idempotency-key': 'k-1' }
const DAY = 86_400_000

describe('a post with an idempotency key', () => {
  it('is a conflict when the key was used for another post', async () => {
    await using broker = await brokerBench()
    await broker.ask('POST', '/resources/a/events', { x: 1 }, key)
    for (const [url, body] of [
      ['/resources/a/events', { x: 2 }],
      ['/resources/b/events', { x: 1 }],
      ['/resources/a/events?ttl=1d', { x: 1 }],
      ['/resources/a/commands', { x: 1, name: 'on' }],
    ] as const) {
      expect((await broker.ask('POST', url, body, key)).status, url).toBe(409)
    }
    expect(broker.engine.messages).toHaveLength(1)
  })

  it('is done once also when it comes several times at once', async () => {
    await using broker = await brokerBench()
    const answers = await Promise.all([1, 2, 3, 4].map(() => broker.ask('POST', '/resources/a/events', { x: 1 }, key)))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(broker.engine.messages).toHaveLength(1)
  })

  it('is done once among posts of other keys in the same turn', async () => {
    await using broker = await brokerBench()
    const keys = ['a', 'b', 'a', 'c', 'b', 'a']
    const answers = await Promise.all(
      keys.map((name) => broker.ask('POST', `/resources/${name}/events`, { x: 1 }, { 'idempotency-key': name })),
    )
    expect(answers.map(({ status }) => status)).toEqual(keys.map(() => 200))
    expect(broker.engine.messages.map(({ resource }) => resource).toSorted()).toEqual(['a', 'b', 'c'])
  })

  it('is forgotten after a day, and let go by the sweep', async () => {
    await using broker = await brokerBench()
    await broker.ask('POST', '/resources/a/events', { x: 1 }, key)
    await broker.ask('POST', '/resources/a/events', { x: 1 }, { 'idempotency-key': 'k-2' })
    broker.clock.now += DAY + 1
    expect((await broker.ask('POST', '/resources/a/events', { x: 2 }, key)).status).toBe(200)
    broker.timers.fire(30_000)
    await broker.service.stop()
    expect(await broker.storage.tenant('acme').collection(POST_KEYS).count()).toBe(1)
  })

  it('cannot be empty or endless', async () => {
    await using broker = await brokerBench()
    const options = (idempotencyKey: string) => broker.api.posting.events('a', { x: 1 }, { idempotencyKey })
    await expect(options('')).rejects.toMatchObject({ code: 'VALIDATION' })
    await expect(options('k'.repeat(1001))).rejects.toMatchObject({ code: 'VALIDATION' })
  })
})
