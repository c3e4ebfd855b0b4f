import { describe, expect, it } from 'vitest'
import { AppError } from '../../../../src/kernel/errors.ts'
import type { Sample } from '../../../../src/storage/contract.ts'
import { type Points, shelf } from './support/series-in-memory.ts'

const TWO: readonly Sample[] = [
  { resource: 'a', metric: 'm', time: 1000, value: 1 },
  { resource: 'b', metric: 'm', time: 1500, value: 3 },
  { resource: 'a', metric: 'm', time: 2500, value: 8 },
  { resource: 'b', metric: 'n', time: 1500, value: 100 },
]
const RANGE = { from: 1000, until: 3000 }

describe('a query over several resources', () => {
  it('pools their samples', async () => {
    const { series } = await shelf(TWO)
    const body = {
      metric: 'm',
      resources: ['b', 'a'],
      aggregates: ['mean', 'count', 'median'],
      grouping: '1s',
      ...RANGE,
    }
    expect(await series.query(body)).toEqual({
      query: { ...RANGE, metric: 'm', aggregates: ['mean', 'count', 'median'], grouping: '1s', resources: ['b', 'a'] },
      series: [
        [1000, 2, 2, 2],
        [2000, 8, 1, 8],
      ],
    })
  })

  it('answers several queries in their order', async () => {
    const { series } = await shelf(TWO)
    const of = (metric: string) => ({ metric, resources: ['b'], aggregates: ['sum'], grouping: '2s', ...RANGE })
    expect(await series.query([of('n'), of('m')])).toMatchObject([
      { query: { metric: 'n' }, series: [[1000, 100]] },
      { query: { metric: 'm' }, series: [[1000, 3]] },
    ])
    expect(await series.query([])).toEqual([])
  })

  it('returns the samples of one resource without aggregates', async () => {
    const { series } = await shelf(TWO)
    expect(
      await series.query({ metric: 'm', resources: ['a'], ...RANGE, order: 'descending', limit: 1 }),
    ).toMatchObject({
      query: { aggregates: null, grouping: 'auto' },
      series: [[2500, 8]],
    })
  })

  it('has at most as many points as requested', async () => {
    const { series } = await shelf(TWO)
    const body = { metric: 'm', resources: ['a'], aggregates: ['count'], grouping: '1s', ...RANGE }
    expect(await series.query({ ...body, maxResults: 1 })).toMatchObject({ series: [[1000, 1]] })
    expect(await series.query({ ...body, maxResults: 0 })).toMatchObject({ series: [] })
  })

  it('can be asked again with what an answer repeats', async () => {
    const { series } = await shelf(TWO)
    const answer = await series.get('a', 'm', { ...RANGE, grouping: '1s', aggregate: 'max' })
    expect(answer.query).toEqual({
      ...RANGE,
      metric: 'm',
      aggregates: ['max'],
      grouping: '1s',
      resources: ['a'],
      aggregate: 'max',
    })
    expect(await series.query(answer.query)).toEqual(answer)
    const raw = await series.get('a', 'm', RANGE)
    expect(await series.query(raw.query)).toEqual(raw)
  })
})

describe('a filter', () => {
  const points: Points = [
    [1, 10],
    [2, 20],
    [3, 30],
    [4, 'cold'],
    [5, 'warm'],
    [6, true],
  ]
  it.each([
    [{ operator: 'gt', value: 20 }, [30]],
    [{ operator: 'gte', value: 20 }, [20, 30]],
    [{ operator: 'lt', value: 20 }, [10]],
    [{ operator: 'lte', value: 20 }, [10, 20]],
    [{ operator: 'eq', value: 20 }, [20]],
    [{ operator: 'eq', value: 'warm' }, ['warm']],
    [{ operator: 'eq', value: '20' }, []],
    [{ operator: 'ne', value: 20 }, [10, 30, 'cold', 'warm', true]],
    [{ operator: 'gt', value: 'cold' }, ['warm']],
    [{ operator: 'between', lowerBound: 10, upperBound: 20 }, [10, 20]],
  ])('%j', async (filter, values) => {
    const { series } = await shelf(points)
    const body = { metric: 'm', resources: ['r'], from: 0, until: 10, filter }
    expect(await series.query(body)).toMatchObject({
      query: { filter },
      series: points.filter(([, value]) => values.includes(value as never)),
    })
    expect(await series.query({ ...body, aggregates: ['count'], grouping: '1s' })).toMatchObject({
      series: [[0, values.length === 0 ? null : values.length]],
    })
  })
})

describe('what is rejected', () => {
  const good = { metric: 'm', resources: ['r'], aggregates: ['mean'] }
  it.each([
    ['a name with a NUL', { ...good, metric: 'a\0' }, ['/metric']],
    ['a percentile above 1', { ...good, aggregates: ['percentile(1.1)'] }, ['/aggregates/0']],
    ['a percentile of 0', { ...good, aggregates: ['percentile(0)'] }, ['/aggregates/0']],
    ['a grouping of nothing', { ...good, grouping: '0h' }, ['/grouping']],
    ['a grouping without aggregates', { ...good, aggregates: [], grouping: 'hour' }, ['/aggregates']],
    ['several resources without aggregates', { metric: 'm', resources: ['a', 'b'] }, ['/aggregates']],
    ['from, until and window', { ...good, from: 1, until: 2, window: '1h' }, ['/window']],
    [
      'bounds that are none',
      { ...good, filter: { operator: 'between', lowerBound: '1' } },
      ['/filter/lowerBound', '/filter/upperBound'],
    ],
    [
      'bounds the wrong way around',
      { ...good, filter: { operator: 'between', lowerBound: 2, upperBound: 1 } },
      ['/filter/lowerBound'],
    ],
    ['one bad of two', [good, { ...good, metric: 5 }], ['/1/metric']],
    [
      'everything at once',
      { metric: '', resources: [''], aggregates: ['x'], grouping: 'y', from: 'z', order: 'w' },
      ['/metric', '/resources/0', '/aggregates/0', '/grouping', '/from', '/order'],
    ],
  ])('%s', async (_, body, paths) => {
    const { series } = await shelf()
    const refusal: unknown = await series.query(body).catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(AppError)
    expect((refusal as AppError).code).toBe('VALIDATION')
    expect((refusal as AppError).issues.map(({ path }) => path)).toEqual(paths)
  })

  it('more than 100 queries at once', async () => {
    const { series } = await shelf()
    await expect(series.query(Array.from({ length: 101 }, () => good))).rejects.toMatchObject({ code: 'TOO_LARGE' })
  })

  it('queries whose answers would be too long together', async () => {
    const { series } = await shelf()
    const aggregates = Array.from({ length: 20 }, () => 'count')
    const wide = { ...good, aggregates, from: 0, until: 2_000_000, grouping: '1s' }
    expect(await series.query(Array.from({ length: 11 }, () => wide))).toHaveLength(11)
    await expect(series.query(Array.from({ length: 12 }, () => wide))).rejects.toMatchObject({ code: 'TOO_LARGE' })
  })

  it('a query that would go through too many samples', async () => {
    const points = Array.from({ length: 12_000 }, (_, i) => [i, i] as const)
    const { series } = await shelf(points, { samplesRead: 11_999 })
    const query = { from: 0, until: 12_000, grouping: 'minute' }
    await expect(series.get('r', 'm', { ...query, aggregate: 'median' })).rejects.toMatchObject({ code: 'TOO_LARGE' })
    expect((await series.get('r', 'm', { ...query, aggregate: 'mean' })).series).toEqual([[0, 5_999.5]])
    const enough = await shelf(points, { samplesRead: 12_000 })
    expect((await enough.series.get('r', 'm', { ...query, aggregate: 'median' })).series).toEqual([[0, 5_999.5]])
  })

  it('aggregates of a URL, each at its place', async () => {
    const { series } = await shelf()
    await expect(series.get('r', 'm', { aggregates: 'mean,,max' })).rejects.toThrow(
      '/aggregates/1 <- "" is not an aggregate',
    )
    await expect(series.get('r', 'm', { aggregate: 'avg', limit: 0 })).rejects.toThrow(/\/aggregate .*\/limit /)
  })
})
