/** Tests where posts are routed. */
import { describe, expect, it } from 'vitest'
import type { PostOptions } from '../../../src/services/broker/contract.ts'
import { brokerBench } from './support/bench-of-broker.ts'

const one = { resource: 'a', t: 1 }
const distinct = [
  { resource: 'a', t: 1 },
  { resource: 'b', t: 2 },
]
const repeated = [...distinct, { resource: 'a', t: 3 }]

const ALL = { series: true, messages: true, engine: true, told: true }
const NONE = { series: false, messages: false, engine: false, told: false }

const ROWS: readonly [string, unknown, PostOptions, typeof ALL][] = [
  ['one object', one, {}, ALL],
  ['an array of one', [one], {}, ALL],
  ['an array of distinct resources', distinct, {}, ALL],
  ['an array with a resource repeated', repeated, {}, { ...NONE, series: true }],
  ['one with store=false', one, { store: false }, { ...NONE, engine: true, told: true }],
  ['one with forward=false', one, { forward: false }, { ...ALL, engine: false }],
  ['one with neither', one, { store: false, forward: false }, NONE],
  ['a repeated one with forward=true', repeated, { forward: true }, { ...NONE, series: true }],
  ['a repeated one with store=false', repeated, { store: false }, NONE],
]

describe('a post', () => {
  it.each(ROWS)('of %s goes where it belongs', async (_what, body, options, expected) => {
    await using broker = await brokerBench()
    const { api, engine } = broker
    const gone = new AbortController()
    const told: string[] = []
    const reader = api.streams.subscribe('a', 'events', { signal: gone.signal })
    const reading = (async () => {
      for await (const { value } of reader) told.push(JSON.stringify(value))
    })()
    await api.posting.events(undefined, body, options)
    expect({
      series: (await api.series.list('a')).length > 0,
      messages: (await api.messages.last('a')).length > 0,
      engine: engine.messages.length > 0,
      told: (await nextOrNothing(() => told)).length > 0,
    }).toEqual(expected)
    gone.abort()
    await reading
    const posts = Array.isArray(body) ? body.length : 1
    if (expected.engine) expect(engine.taken.map(({ messages }) => messages.length)).toEqual([posts])
  })

  it('keeps nothing in the log when it is not stored', async () => {
    await using broker = await brokerBench()
    await broker.api.posting.events('a', { t: 1 }, { store: false })
    expect(await broker.storage.tenant('acme').log('log').bounds()).toEqual({ first: 1, last: 0 })
  })

  it('makes series of scalars alone, and keeps the rest in the message', async () => {
    await using broker = await brokerBench()
    const message = { n: 1.5, s: 'x', b: true, z: null, o: { n: 2 }, l: [3] }
    await broker.api.posting.events('a', message)
    const metrics = (await broker.api.series.list('a')).map(({ metric, value }) => [metric, value])
    expect(metrics).toEqual([
      ['b', true],
      ['n', 1.5],
      ['s', 'x'],
    ])
    expect(await broker.api.messages.current('a')).toEqual({ ...message, timestamp: broker.clock.now })
  })

  it('is removed from both stores when its time to live has ended', async () => {
    await using broker = await brokerBench()
    await broker.api.posting.events('a', { t: 1 }, { ttl: '1m' })
    await broker.api.posting.events('a', { u: 1 })
    broker.clock.now += 61_000
    expect((await broker.api.messages.last('a')).map((message) => Object.keys(message))).toEqual([['u', 'timestamp']])
    expect((await broker.api.series.list('a')).map(({ metric }) => metric)).toEqual(['u'])
  })
})

/** Waits for what a feed delivers: readers receive it a turn later. */
async function nextOrNothing<T>(read: () => readonly T[]): Promise<readonly T[]> {
  for (let turns = 0; turns < 5 && read().length === 0; turns++) await new Promise(setImmediate)
  return read()
}
