/**
 * Conformance of samples and messages by time. `describeSeries(name, medium)` runs everything: samples, buckets,
 * messages, and random histories against a model.
 */
import { expect } from 'vitest'
import type { Storage } from '../../../src/storage/contract.ts'
import type { Sample, SampleValue, SeriesName } from '../../../src/storage/series.ts'
import { definesBuckets } from './bucket-facts.ts'
import { describeMedium, expectCode, failureOf, START, storeFact, type Medium, type Suite } from './medium.ts'
import { definesMessages } from './message-facts.ts'
import { definesMessageHistories } from './message-histories.ts'
import { definesSeriesHistories } from './series-histories.ts'

export function describeSeries(name: string, medium: Medium): void {
  describeMedium(`samples on ${name}`, medium, (suite) => {
    definesSamples(suite)
    definesExpiry(suite)
    definesProgress(suite)
    definesRefusals(suite)
  })
  describeMedium(`buckets on ${name}`, medium, definesBuckets)
  describeMedium(`messages on ${name}`, medium, definesMessages)
  describeMedium(`random histories of samples on ${name}`, medium, definesSeriesHistories)
  describeMedium(`random histories of messages on ${name}`, medium, definesMessageHistories)
}

const sample = (time: number, value: SampleValue, more: Partial<Sample> = {}): Sample => ({
  resource: 'r',
  metric: 'm',
  time,
  value,
  ...more,
})

function definesSamples(suite: Suite<Storage>): void {
  const fact = storeFact(suite)

  fact('pairs of resource and metric or stream are listed in pages, by code point', async ({ series }) => {
    const pairs = ['b m', 'a m2', 'a m', 'ä m', 'B m', '😀 m'].map((text) => text.split(' '))
    const body = { x: 1 }
    await series.append({
      samples: pairs.map(([resource = '', metric = '']) => sample(1, 1, { resource, metric })),
      messages: pairs.map(([resource = '', stream = ''], time) => ({ resource, stream, time, body })),
    })
    const expected = ['B m', 'a m', 'a m2', 'b m', 'ä m', '😀 m']
    for (const of of ['samples', 'messages'] as const) {
      const found: string[] = []
      for (let after: SeriesName | undefined; ;) {
        const page: readonly SeriesName[] = await series.names({ of, limit: 4, ...(after && { after }) })
        found.push(...page.map(({ resource, name }) => `${resource} ${name}`))
        after = page.at(-1)
        if (page.length < 4) break
      }
      expect(found).toEqual(expected)
    }
    await expectCode(() => series.names({ of: 'samples', limit: 0 }), 'VALIDATION')
  })

  fact('a value is a number, a text or a truth value, and comes back as it was', async ({ series }) => {
    const values = [0, 1, 2.5, -1e300, 5e-324, 2 ** 53 + 2, 2 ** 62, '', '1', 'true', 'ä😀\n', true, false]
    await series.append({ samples: values.map((value, time) => sample(time, value)) })
    const read = await series.range({ resources: ['r'], metric: 'm' })
    expect(read.map((one) => one.value)).toStrictEqual(values)
    await series.append({ samples: [sample(0, -0)] })
    expect((await series.range({ resources: ['r'], metric: 'm', limit: 1 }))[0]?.value).toBe(0)
  })

  fact('names are any text; nothing of one meets another', async ({ series }) => {
    const odd = ['a', 'A', 'a/b', 'a b', '__proto__', "o'x", '%', '*', '1', 'ä', '😀', 'x'.repeat(512)]
    await series.append({
      samples: odd.flatMap((resource) =>
        odd.map((metric, time) => sample(time, `${resource}|${metric}`, { resource, metric })),
      ),
    })
    for (const resource of odd) {
      const latest = await series.latest(resource)
      expect(new Set(latest.map((one) => one.value))).toEqual(new Set(odd.map((metric) => `${resource}|${metric}`)))
      expect(await series.range({ resources: [resource], metric: 'a b' })).toMatchObject([{ value: `${resource}|a b` }])
    }
  })

  fact('two tenants do not meet', async ({ series, storage, tenant }) => {
    const other = storage.tenant(`${tenant}.b`).series
    await series.append({ samples: [sample(1, 1)], applies: { log: 'inputs', position: 3 } })
    await other.append({ samples: [sample(1, 2), sample(2, 2)] })
    await other.remove({ resource: 'r', from: 2 })
    expect(await other.range({ resources: ['r'], metric: 'm' })).toEqual([sample(1, 2)])
    expect(await series.range({ resources: ['r'], metric: 'm' })).toEqual([sample(1, 1)])
    expect(await other.applied('inputs')).toBe(0)
  })

  fact('10,000 samples come where no limit is given', async ({ series }) => {
    const samples = Array.from({ length: 10_050 }, (_, time) => sample(time, time))
    await series.append({ samples })
    expect(await series.range({ resources: ['r'], metric: 'm' })).toHaveLength(10_000)
    expect(await series.range({ resources: ['r'], metric: 'm', limit: 1_000_000 })).toHaveLength(10_050)
  })

  suite.alone('samples, messages and progress are there after opening again', async (opened) => {
    const { series } = opened.storage.tenant('acme')
    await series.append({
      samples: [sample(2, 'b'), sample(1, 1)],
      messages: [{ resource: 'r', stream: 'events', time: 1, body: { a: 1 } }],
      applies: { log: 'outputs', position: 9 },
    })
    await series.append({ samples: [sample(1, 5, { expires: START + 10 })] })
    const again = (await opened.reopen()).tenant('acme').series
    expect(await again.range({ resources: ['r'], metric: 'm' })).toEqual([
      sample(1, 5, { expires: START + 10 }),
      sample(2, 'b'),
    ])
    expect(await again.messages({ resource: 'r', stream: 'events' })).toHaveLength(1)
    expect(await again.applied('outputs')).toBe(9)
    expect(await again.applied('inputs')).toBe(0)
  })
}

function definesExpiry(suite: Suite<Storage>): void {
  const fact = storeFact(suite)

  fact('expire lets go of samples and messages and says of how many', async ({ series, clock }) => {
    const expires = START + 10
    await series.append({
      samples: [sample(1, 1, { expires }), sample(2, 2, { expires: expires + 1 }), sample(3, 3)],
      messages: [
        { resource: 'r', stream: 'events', time: 1, body: {}, expires },
        { resource: 'r', stream: 'events', time: 2, body: {} },
      ],
    })
    expect(await series.expire(expires - 1)).toBe(0)
    expect(await series.expire(expires)).toBe(2)
    expect(await series.expire(expires)).toBe(0)
    clock.now = START - 1
    expect((await series.range({ resources: ['r'], metric: 'm' })).map((one) => one.time)).toEqual([2, 3])
    expect(await series.messages({ resource: 'r', stream: 'events' })).toHaveLength(1)
  })
}

function definesProgress(suite: Suite<Storage>): void {
  const fact = storeFact(suite)

  fact('applied gives the position that came with the last batch, by log', async ({ series }) => {
    expect(await series.applied('inputs')).toBe(0)
    await series.append({ samples: [sample(1, 1)], applies: { log: 'inputs', position: 4 } })
    await series.append({ applies: { log: 'outputs', position: 2 } })
    await series.append({ samples: [sample(2, 2)] })
    expect([await series.applied('inputs'), await series.applied('outputs'), await series.applied('other')]).toEqual([
      4, 2, 0,
    ])
    await series.append({ applies: { log: 'inputs', position: 9 } })
    expect(await series.applied('inputs')).toBe(9)
  })

  fact('a position goes back only where the batch says so, also to 0', async ({ series }) => {
    const place = { log: 'inputs' }
    await series.append({ applies: { ...place, position: 9 } })
    await series.append({ applies: { ...place, position: 4, rewinds: true } })
    expect(await series.applied('inputs')).toBe(4)
    await series.append({ samples: [sample(1, 1)], applies: { ...place, position: 5 } })
    expect(await series.range({ resources: ['r'], metric: 'm' })).toEqual([sample(1, 1)])
    await series.append({ applies: { ...place, position: 0, rewinds: true } })
    expect(await series.applied('inputs')).toBe(0)
  })

  fact(
    'a batch of a position that was applied is passed over, so that an old value never wins again',
    async ({ series }) => {
      const at = (position: number, value: number) => ({
        samples: [sample(1, value)],
        messages: [{ resource: 'r', stream: 'events', time: 1, body: { value } }],
        applies: { log: 'inputs', position },
      })
      await series.append(at(1, 1))
      await series.append(at(5, 2))
      await series.append(at(1, 1))
      await series.append(at(4, 3))
      await series.append(at(5, 4))
      expect(await series.range({ resources: ['r'], metric: 'm' })).toEqual([sample(1, 2)])
      expect(await series.messages({ resource: 'r', stream: 'events' })).toHaveLength(2)
      expect(await series.applied('inputs')).toBe(5)
      await Promise.all([at(6, 5), at(6, 6), at(2, 7), at(7, 8)].map((batch) => series.append(batch)))
      expect(await series.range({ resources: ['r'], metric: 'm' })).toEqual([sample(1, 8)])
      const values = (await series.messages({ resource: 'r', stream: 'events' })).map(({ body }) => body['value'])
      expect(values).toEqual([8, 5, 2, 1])
    },
  )

  fact('batches of one turn are applied in the order of the calls', async ({ series }) => {
    await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        series.append({ samples: [sample(1, i)], applies: { log: 'inputs', position: i + 1 } }),
      ),
    )
    expect(await series.latest('r')).toEqual([sample(1, 19)])
    expect(await series.applied('inputs')).toBe(20)
  })
}

function definesRefusals(suite: Suite<Storage>): void {
  const fact = storeFact(suite)

  fact('a bad sample is named, and nothing of its batch is written', async ({ series }) => {
    const bad: readonly Partial<Record<keyof Sample, unknown>>[] = [
      { value: Number.NaN },
      { value: Infinity },
      { value: null },
      { value: { a: 1 } },
      { value: 'a\0b' },
      { time: 1.5 },
      { time: Number.NaN },
      { time: 9e15 },
      { expires: 0.5 },
      { resource: '' },
      { resource: 'a\0b' },
      { metric: '' },
      { metric: '\ud800' },
      { metric: 5 },
    ]
    for (const part of bad) {
      const name = JSON.stringify(part)
      const samples = [sample(1, 1), { ...sample(2, 2), ...part } as Sample]
      const failure = await failureOf(() => series.append({ samples, applies: { log: 'inputs', position: 1 } }))
      expect([name, failure.code]).toEqual([name, 'VALIDATION'])
      expect(failure.issues.map((issue) => issue.path)).toEqual([`/samples/1/${Object.keys(part)[0]}`])
    }
    await expectCode(() => series.append({ samples: [sample(1, 1, { resource: 'x'.repeat(513) })] }), 'TOO_LARGE')
    await expectCode(() => series.append({ samples: [sample(1, 'x'.repeat(65_537))] }), 'TOO_LARGE')
    expect(await series.latest('r')).toEqual([])
    expect(await series.applied('inputs')).toBe(0)
  })

  fact('a bad question is refused', async ({ series }) => {
    const ask = { resources: ['r'], metric: 'm' }
    await expectCode(() => series.range({ ...ask, resources: [] }), 'VALIDATION')
    await expectCode(() => series.range({ ...ask, limit: 0 }), 'VALIDATION')
    await expectCode(() => series.range({ ...ask, limit: 1.5 }), 'VALIDATION')
    await expectCode(() => series.range({ ...ask, from: Number.NaN }), 'VALIDATION')
    await expectCode(() => series.range({ ...ask, limit: 1_000_001 }), 'TOO_LARGE')
    await expectCode(() => series.range({ ...ask, resources: Array.from({ length: 1_001 }, String) }), 'TOO_LARGE')
    expect(await series.range({ ...ask, resources: Array.from({ length: 1_000 }, String) })).toEqual([])
    await expectCode(() => series.append({ applies: { log: 'inputs', position: 0 } }), 'VALIDATION')
    await expectCode(() => series.append({ applies: { log: 'In puts', position: 1 } }), 'VALIDATION')
    await expectCode(() => series.remove({ resource: 'r', from: 0.5 }), 'VALIDATION')
    await expectCode(() => series.remove({ resource: 'r', metrics: ['m'], only: 'messages' }), 'VALIDATION')
    await expectCode(() => series.remove({ resource: 'r', stream: 'events' }), 'VALIDATION')
    await expectCode(() => series.remove({ resource: 'r', keep: 1, only: 'messages' }), 'VALIDATION')
    await expectCode(() => series.expire(Number.NaN), 'VALIDATION')
    await expectCode(() => series.latest(''), 'VALIDATION')
    await series.append({})
  })
}
