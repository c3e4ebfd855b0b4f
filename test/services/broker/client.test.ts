import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AppError } from '../../../src/kernel/errors.ts'
import { createClient } from '../../../src/client.ts'
import type { BrokerApi } from '../../../src/services/broker/contract.ts'
import { brokerBench, NOON, type BrokerBench } from './support/bench-of-broker.ts'

/** Each test must pass both in process and over HTTP. */
const WAYS = ['in process', 'over HTTP'] as const

describe.each(WAYS)('the broker, %s', (way) => {
  let broker: BrokerBench
  let api: BrokerApi
  beforeEach(async () => {
    broker = await brokerBench()
    api = way === 'in process' ? broker.api : createClient({ url: await broker.listen() }).broker
  })
  afterEach(() => broker[Symbol.asyncDispose]())

  it('takes messages and returns them', async () => {
    const posted = await api.posting.events('a/ö', { n: 1 }, { ttl: '1d' })
    expect(posted).toEqual({ message: 'Published message async for a/ö', content: { n: 1, timestamp: NOON } })
    await api.posting.events(undefined, [{ resource: 'a/ö', n: 2, timestamp: NOON + 1 }], { forward: false })
    expect(await api.messages.last('a/ö')).toEqual([
      { n: 2, timestamp: NOON + 1 },
      { n: 1, timestamp: NOON },
    ])
    expect(await api.messages.last('a/ö', 'events', 1)).toHaveLength(1)
    expect(await api.messages.current('a/ö')).toEqual({ n: 2, timestamp: NOON + 1 })
    expect(broker.engine.messages).toHaveLength(1)
  })

  it('takes commands and returns them', async () => {
    const posted = await api.posting.command('a', { name: 'on', level: 2 })
    const command = { name: 'on', level: 2, timestamp: NOON }
    expect(posted).toEqual({ message: 'Published command for a', content: command })
    expect(await api.messages.last('a', 'commands', 5)).toEqual([command])
  })

  it('does a post with a key once', async () => {
    await api.posting.events('a', { n: 1 }, { idempotencyKey: 'k' })
    await api.posting.events('a', { n: 1 }, { idempotencyKey: 'k' })
    expect(await api.messages.last('a')).toHaveLength(1)
    await expect(api.posting.events('a', { n: 2 }, { idempotencyKey: 'k' })).rejects.toMatchObject({ code: 'CONFLICT' })
  })

  it('rejects with all problems', async () => {
    const error: unknown = await api.posting.events(undefined, [{ n: 1 }, 3]).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(AppError)
    expect(error).toMatchObject({ code: 'VALIDATION', issues: [{ path: '/0/resource' }, { path: '/1' }] })
    await expect(api.messages.current('none')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('reads series page by page, and removes them', async () => {
    const points = [1, 2].map((t) => ({ t, timestamp: NOON - 3 + t }))
    await api.posting.events('a b', points)
    const first = await api.series.raw('a b', 't', { from: NOON - 2, limit: 1 })
    expect(first).toMatchObject({ series: [[NOON - 2, 1]], truncated: true })
    expect(await api.series.raw('a b', 't', first.next)).toMatchObject({ series: [[NOON - 1, 2]] })
    const summed = { from: NOON - 2, until: NOON, aggregate: 'sum', grouping: '1s' }
    expect((await api.series.get('a b', 't', summed)).series).toEqual([[NOON - 2, 3]])
    expect(await api.series.list('a b')).toEqual([{ metric: 't', time: NOON - 1, value: 2 }])
    const body = { metric: 't', resources: ['a b'], aggregates: ['count'], window: '1s', grouping: '1s' }
    expect(await api.series.query([body])).toMatchObject([{ series: [[NOON - 1_000, 2]] }])
    await expect(api.series.get('a b', 't', { aggregate: 'avg' })).rejects.toMatchObject({ code: 'VALIDATION' })
    await api.series.remove({ resource: 'a b', metrics: ['t'], from: NOON - 1 })
    expect((await api.series.latest('a b', 't')).series).toEqual([[NOON - 2, 1]])
    const messages = { resource: 'a b', only: 'messages' } as const
    await api.series.remove(messages)
    if (way === 'over HTTP')
      await expect(api.series.remove({ ...messages, from: 1 })).rejects.toThrow(/removes all of them/)
  })

  it('notifies subscribers until they leave', async () => {
    const gone = new AbortController()
    const reader = api.streams.subscribe('a', 'events', { signal: gone.signal })
    const first = reader.next()
    await expect.poll(() => broker.service.gauges().subscribers).toBe(1)
    await api.posting.events('a', { n: 1 })
    expect(await first).toMatchObject({ value: { number: 1, topic: 'a', value: { resource: 'a', n: 1 } } })
    expect([reader.takeDropped(), reader.missed]).toEqual([0, false])
    await api.posting.events('a', { n: 2 })
    expect(await reader.next()).toMatchObject({ value: { number: 2, value: { n: 2 } } })
    gone.abort()
    expect(await reader.next()).toEqual({ done: true, value: undefined })
    await expect.poll(() => broker.service.gauges().subscribers).toBe(0)
  })

  it('sends everything to the firehose', async () => {
    const gone = new AbortController()
    const reader = api.streams.firehose({ signal: gone.signal })
    const first = reader.next()
    await expect.poll(() => broker.service.gauges().subscribers).toBe(1)
    await api.posting.events('a', { n: 1 })
    await api.posting.events('b', { n: 2 })
    expect(await first).toMatchObject({ value: { topic: 'a', value: { n: 1 } } })
    for await (const { topic, value } of reader) {
      expect([topic, value['n']]).toEqual(['b', 2])
      break
    }
    await expect.poll(() => broker.service.gauges().subscribers).toBe(0)
  })
})
