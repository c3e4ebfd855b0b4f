import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { SeriesApi, SeriesQuery } from '../../../../src/services/broker/contract.ts'
import { runs } from '../../../support/arbitraries/runs.ts'
import { NOW, type Points, rowsOf, shelf } from './support/series-in-memory.ts'

const POINTS: Points = [
  [1, 1],
  [2, 'two'],
  [3, true],
  [4, 4],
]

describe('a series without aggregates', () => {
  it('is undefined for unknown values', async () => {
    expect(await rowsOf(await shelf(), {})).toEqual([])
  })

  it('has at most 2,000 points, the first in the order asked', async () => {
    const series = await shelf(Array.from({ length: 2_100 }, (_, i) => [i, i] as const))
    const ascending = (await rowsOf(series, { from: 0, limit: 5_000 })) as unknown[][]
    expect([ascending.length, ascending.at(-1)]).toEqual([2_000, [1_999, 1_999]])
    const descending = (await rowsOf(series, { from: 0, order: 'descending' })) as unknown[][]
    expect([descending.length, descending.at(-1)]).toEqual([2_000, [100, 100]])
  })

  it('repeats the limit and order that were requested', async () => {
    const { query } = await (await shelf()).series.get('r', 'm', { from: 0, until: 9, limit: 5, order: 'descending' })
    expect(query).toMatchObject({ limit: 5, order: 'descending' })
  })
})

describe('pages of raw samples', () => {
  it('have 2,000 samples unless asked otherwise, and at most 10,000', async () => {
    const { series } = await shelf(Array.from({ length: 10_001 }, (_, i) => [i, i] as const))
    const sizeOf = async (query: SeriesQuery): Promise<number> => (await series.raw('r', 'm', query)).series.length
    expect(await sizeOf({ from: 0 })).toBe(2_000)
    expect(await sizeOf({ from: 0, limit: 3_000 })).toBe(3_000)
    expect(await sizeOf({ from: 0, limit: 1_000_000 })).toBe(10_000)
  })

  it('cannot be aggregated', async () => {
    const { series } = await shelf()
    await expect(series.raw('r', 'm', { aggregate: 'mean', grouping: 'hour' })).rejects.toThrow(
      /\/aggregate <- .*\/grouping <- /,
    )
  })

  it('walk over every sample once, in both orders', async () => {
    const times = fc.uniqueArray(fc.integer({ min: -50, max: 50 }), { maxLength: 40 })
    const order = fc.constantFrom('ascending', 'descending')
    await fc.assert(
      fc.asyncProperty(times, order, fc.integer({ min: 1, max: 7 }), async (at, direction, limit) => {
        const { series } = await shelf(at.map((time) => [time, time]))
        const seen: unknown[] = []
        let query: SeriesQuery | undefined = { from: -50, until: 50, order: direction, limit }
        while (query !== undefined) {
          const page: Awaited<ReturnType<typeof series.raw>> = await series.raw('r', 'm', query)
          seen.push(...page.series)
          query = page.next
        }
        const sorted = at.toSorted((a, b) => (direction === 'ascending' ? a - b : b - a))
        expect(seen).toEqual(sorted.map((time) => [time, time]))
      }),
      runs(100),
    )
  })
})

describe('what does not fit', () => {
  const points = Array.from({ length: 23 }, (_, i) => [NOW - 10_000 + i * 437, i % 7] as const)
  const range = { from: NOW - 10_000, until: NOW }
  const walked = async (query: Parameters<SeriesApi['get']>[2]): Promise<unknown[]> => {
    const { series } = await shelf(points)
    const rows: unknown[] = []
    for (let next = query; next !== undefined;) {
      const page = await series.get('r', 'm', next)
      expect(page.truncated).toBe(page.next === undefined ? undefined : true)
      rows.push(...page.series)
      next = page.next
    }
    return rows
  }

  it.each([
    ['samples', {}],
    ['groups', { grouping: '1s', aggregates: 'count,first,median' }],
    ['groups of a width that divides nothing', { grouping: 'PT0.7S', aggregate: 'sum' }],
    ['groups of their own width', { aggregate: 'last' }],
    ['differences', { aggregate: 'diff' }],
  ])('of %s is in the pages after it, in both orders', async (_, query) => {
    const { series } = await shelf(points)
    for (const order of ['ascending', 'descending'] as const) {
      const whole = await series.get('r', 'm', { ...range, ...query, order })
      expect(whole.truncated).toBeUndefined()
      expect(await walked({ ...range, ...query, order, limit: 2 })).toEqual(whole.series)
    }
  })
})

describe('the newest samples', () => {
  it('are the last one, or as many as requested, newest first', async () => {
    const { series } = await shelf(POINTS)
    expect(await series.latest('r', 'm')).toEqual({
      query: { from: null, until: null, metric: 'm', aggregates: null, grouping: 'auto', resources: ['r'], limit: 1 },
      series: [[4, 4]],
    })
    expect((await series.latest('r', 'm', { limit: 2, until: 3 })).series).toEqual([
      [3, true],
      [2, 'two'],
    ])
    expect((await series.latest('r', 'other')).series).toEqual([])
  })

  it('of all metrics come by name', async () => {
    const { series } = await shelf([
      { resource: 'r', metric: 'b', time: 1, value: 1 },
      { resource: 'r', metric: 'b', time: 2, value: 'x' },
      { resource: 'r', metric: 'a', time: 1, value: false },
      { resource: 's', metric: 'c', time: 1, value: 1 },
    ])
    expect(await series.list('r')).toEqual([
      { metric: 'a', time: 1, value: false },
      { metric: 'b', time: 2, value: 'x' },
    ])
    expect(await series.list('nobody')).toEqual([])
  })
})

describe('removal', () => {
  it('forgets metrics in a range', async () => {
    const shelved = await shelf(POINTS)
    await shelved.series.remove({ resource: 'r', metrics: ['m'], from: 2, until: 3 })
    expect(await rowsOf(shelved, { from: 0 })).toEqual([
      [1, 1],
      [4, 4],
    ])
  })

  it('names a resource that is none', async () => {
    const { series } = await shelf()
    await expect(series.remove({ resource: '', metrics: ['m', ''] })).rejects.toThrow(/\/resource .*\/metrics\/1 /)
  })
})
