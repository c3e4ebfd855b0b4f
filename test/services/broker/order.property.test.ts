/**
 * Tests BROKER-1 to BROKER-3 for any mix of concurrent posts: each acknowledged message is stored once, in an order
 * that all readers share.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runs } from '../../support/arbitraries/runs.ts'
import { brokerBench, NOON, type BrokerBench } from './support/bench-of-broker.ts'

interface Step {
  readonly resources: readonly string[]
  readonly store: boolean
  readonly forward: boolean
  readonly asList: boolean
  /** Turns of the event loop before the next post */
  readonly pause: number
}

const step: fc.Arbitrary<Step> = fc.record({
  resources: fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 4 }),
  store: fc.boolean(),
  forward: fc.boolean(),
  asList: fc.boolean(),
  pause: fc.integer({ min: 0, max: 2 }),
})

interface Sent {
  readonly resource: string
  readonly n: number
}

/** The expected result of each message. */
interface Expected {
  readonly series: Sent[]
  readonly messages: Sent[]
  readonly engine: Sent[]
  readonly told: Sent[]
}

async function play(broker: BrokerBench, steps: readonly Step[]): Promise<Expected> {
  const expected: Expected = { series: [], messages: [], engine: [], told: [] }
  let n = 0
  const posts: Promise<unknown>[] = []
  for (const { resources, store, forward, asList, pause } of steps) {
    const list = (asList ? resources : resources.slice(0, 1)).map((resource) => ({ resource, n: ++n }))
    const isBulk = new Set(list.map(({ resource }) => resource)).size < list.length
    const body = list.map((one) => ({ ...one, timestamp: NOON + one.n }))
    if (store) expected.series.push(...list)
    if (store && !isBulk) expected.messages.push(...list)
    if (forward && !isBulk) expected.engine.push(...list)
    if ((store || forward) && !isBulk) expected.told.push(...list)
    posts.push(broker.api.posting.events(undefined, asList ? body : body[0], { store, forward }))
    for (let turn = 0; turn < pause; turn++) await new Promise(setImmediate)
  }
  await Promise.all(posts)
  return expected
}

function numbers(list: readonly Sent[], resource: string): readonly number[] {
  return list.filter((one) => one.resource === resource).map(({ n }) => n)
}

describe('any mix of posts at once', () => {
  it('is kept exactly once, forwarded exactly once, and reported in order', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        // the messages' times lie behind the clock
        await using broker = await brokerBench({ clock: { now: NOON + 1_000 } })
        const told: Sent[] = []
        const gone = new AbortController()
        const reader = broker.api.streams.firehose({ signal: gone.signal })
        const reading = (async () => {
          for await (const { topic, value } of reader) told.push({ resource: topic, n: Number(value['n']) })
        })()
        const expected = await play(broker, steps)
        await broker.service.readable()
        for (let turn = 0; turn < 3; turn++) await new Promise(setImmediate)
        gone.abort()
        await reading
        const { series } = broker.storage.tenant('acme')
        const engine = broker.engine.messages.map(({ resource, n }) => ({ resource, n: Number(n) }))
        for (const resource of ['a', 'b', 'c']) {
          const samples = await series.range({ resources: [resource], metric: 'n' })
          expect(samples.map(({ value }) => value)).toEqual(numbers(expected.series, resource))
          const messages = await series.messages({ resource, stream: 'events', descending: false, limit: 1000 })
          expect(messages.map(({ body }) => body['n'])).toEqual(numbers(expected.messages, resource))
          expect(numbers(engine, resource)).toEqual(numbers(expected.engine, resource))
          expect(numbers(told, resource)).toEqual(numbers(expected.told, resource))
        }
      }),
      runs(60),
    )
  })
})
