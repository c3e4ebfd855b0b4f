/** Random histories of samples: late, repeated, expiring and removed ones; the medium and the model must agree. */
import fc from 'fast-check'
import { expect } from 'vitest'
import type { Storage } from '../../../src/storage/contract.ts'
import type { Bucket, Series, Sample } from '../../../src/storage/series.ts'
import { runs } from '../../support/arbitraries/runs.ts'
import { START, type Suite, type SuiteClock } from './medium.ts'
import { SeriesModel } from './series-model.ts'

const RESOURCES = ['a', 'b', '～', '😀'] as const
const resources = fc.constantFrom(...RESOURCES)
const metrics = fc.constantFrom('m', 'n')
const times = fc.integer({ min: -20, max: 40 })
const values = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: -1_000, max: 1_000 }).map((value) => value / 8) },
  { weight: 1, arbitrary: fc.constantFrom<Sample['value']>('x', '1', '', true, false) },
)
const samples: fc.Arbitrary<Sample> = fc
  .record({ resource: resources, metric: metrics, time: times, value: values, ttl: fc.option(fc.nat(60), { freq: 4 }) })
  .map(({ ttl, ...sample }) => (ttl === null ? sample : { ...sample, expires: START + ttl }))

type Step =
  | { readonly kind: 'append'; readonly samples: readonly Sample[] }
  | {
      readonly kind: 'remove'
      readonly resource: string
      readonly metrics: readonly string[] | undefined
      readonly from: number
      readonly until: number
    }
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'expire' }
  | Ask
type Ask = {
  readonly kind: 'ask'
  readonly resources: string[]
  readonly metric: string
  readonly from: number
  readonly span: number
  readonly width: number
  readonly limit: number
  readonly descending: boolean
}

const steps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('append'), samples: fc.array(samples, { maxLength: 12 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('remove'),
      resource: resources,
      metrics: fc.option(fc.uniqueArray(metrics), { nil: undefined }),
      from: times,
      until: times,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('pass'), ms: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('expire') }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('ask'),
      resources: fc.array(resources, { minLength: 1, maxLength: 4 }),
      metric: metrics,
      from: times,
      span: fc.nat(50),
      width: fc.integer({ min: 1, max: 25 }),
      limit: fc.integer({ min: 1, max: 15 }),
      descending: fc.boolean(),
    }),
  },
)

export function definesSeriesHistories(suite: Suite<Storage>): void {
  suite.fact('any history of samples reads as the model says', async ({ storage, tenant, clock }) => {
    let count = 0
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 1, maxLength: 16 }), async (history) => {
        count += 1
        clock.now = START
        const { series } = storage.tenant(`${tenant}.${count}`)
        const model = new SeriesModel(START)
        for (const step of history) await take(step, series, model, clock)
        for (const resource of RESOURCES) expect(await series.latest(resource)).toEqual(model.latest(resource))
      }),
      runs(60),
    )
  })
}

async function take(step: Step, series: Series, model: SeriesModel, clock: SuiteClock): Promise<void> {
  switch (step.kind) {
    case 'append':
      await series.append({ samples: step.samples })
      return model.append(step.samples)
    case 'remove': {
      const { resource, metrics: some, from, until } = step
      await series.remove({ resource, from, until, only: 'samples', ...(some && { metrics: some }) })
      return model.remove({ resource, from, until, metrics: some })
    }
    case 'pass':
      clock.now += step.ms
      model.now = clock.now
      return
    case 'expire':
      await series.expire(clock.now)
      model.expire(clock.now)
      return
    case 'ask':
      return compareReads(step, series, model)
  }
}

async function compareReads(ask: Ask, series: Series, model: SeriesModel): Promise<void> {
  const { resources: some, metric, from, span, width, limit, descending } = ask
  const range = { resources: some, metric, from, until: from + span, limit, descending }
  const expected = model.range(range)
  expect(await series.range(range)).toEqual(expected)
  const { times, values } = await series.columns(range)
  expect(Array.from(times, (time, i) => [time, values[i]])).toEqual(expected.map(({ time, value }) => [time, value]))
  const buckets = { resources: some, metric, from, until: from + span, width }
  expect(rounded(await series.buckets(buckets))).toEqual(rounded(model.buckets(buckets)))
}

/** Media may add in different orders; eighths of small numbers come out equal, and so may nothing else differ. */
function rounded(buckets: readonly Bucket[]): readonly Bucket[] {
  return buckets.map((bucket) => ({ ...bucket, sum: six(bucket.sum), sumOfSquares: six(bucket.sumOfSquares) }))
}

function six(value: number | null): number | null {
  return value === null ? null : Math.round(value * 1e6) / 1e6 + 0
}
