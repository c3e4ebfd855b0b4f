import { describe, expect, it } from 'vitest'
import { type Points, rowsOf, shelf } from './support/series-in-memory.ts'

const WORKED: Points = [
  [1000, 1],
  [2999, 3],
  [3000, 5],
  [5500, 9],
]
const MIXED: Points = [
  [0, 4],
  [1, '7'],
  [2, true],
  [3, 2],
  [4, 9],
  [5, 'end'],
]

describe('a deviation', () => {
  it('is as exact far from 0 as near to it', async () => {
    const values = [0.25, 0.5, 1.75, 3, 4.125, 0, 2.5]
    const far = values.map((value, i) => [i, 1.7e12 + value] as const)
    for (const aggregates of ['std', 'std,median']) {
      const [row] = (await rowsOf(await shelf(far), { from: 0, until: 10, grouping: '1s', aggregates })) as number[][]
      // pandas' result for the same numbers close to 0
      expect(Math.abs((row?.[1] ?? 0) - 1.5619641938460507)).toBeLessThan(1e-15)
    }
  })
})

describe('groups', () => {
  it('are none in a range of no length', async () => {
    expect(await rowsOf(await shelf(WORKED), { from: 1000, until: 1000, grouping: '1s', aggregate: 'count' })).toEqual(
      [],
    )
  })

  it('are cut to the first 2,000, in the order asked', async () => {
    const series = await shelf([[2_499_500, 1]])
    const query = { from: 0, until: 2_500_000, grouping: '1s', aggregate: 'last' }
    const ascending = (await rowsOf(series, query)) as unknown[][]
    expect([ascending.length, ascending[0], ascending.at(-1)]).toEqual([2000, [0, null], [1_999_000, null]])
    const descending = (await rowsOf(series, { ...query, order: 'descending' })) as unknown[][]
    expect([descending.length, descending[0], descending.at(-1)]).toEqual([2000, [2_499_000, 1], [500_000, null]])
  })

  it('are chosen when their length is not set', async () => {
    const series = await shelf(WORKED)
    expect(await rowsOf(series, { from: 1000, until: 5500, aggregate: 'mean' })).toEqual([
      [1000, 1],
      [2000, 3],
      [3000, 5],
      [4000, null],
      [5000, 9],
    ])
  })
})

describe('an aggregate', () => {
  it('std of many equal numbers is exactly 0', async () => {
    const points = Array.from({ length: 10 }, (_, i) => [i, 0.1] as const)
    expect(await rowsOf(await shelf(points), { from: 0, until: 10, grouping: '1s', aggregate: 'std' })).toEqual([
      [0, 0],
    ])
  })

  it('that grew beyond numbers is null', async () => {
    const points: Points = [
      [1, 1.7e308],
      [2, 1.7e308],
    ]
    const rows = await rowsOf(await shelf(points), {
      from: 0,
      until: 10,
      grouping: '1s',
      aggregates: 'sum,mean,max,median',
    })
    expect(rows).toEqual([[0, null, null, 1.7e308, 1.7e308]])
  })

  it('may stand beside others, in the order asked and twice if asked twice', async () => {
    const query = { from: 0, until: 10, grouping: '1s', aggregates: 'max, min,max' }
    expect(await rowsOf(await shelf(MIXED), query)).toEqual([[0, 9, 2, 9]])
  })
})

describe('differences', () => {
  const points: Points = [
    [0, 1],
    [400, 'pause'],
    [900, 4],
    [2500, 3],
    [2600, 10],
  ]

  it('stand at the later sample', async () => {
    const series = await shelf(points)
    expect(await rowsOf(series, { from: 0, until: 9_000, aggregate: 'diff' })).toEqual([
      [900, 3],
      [2500, -1],
      [2600, 7],
    ])
    expect(await rowsOf(series, { from: 0, until: 9_000, aggregate: 'diff', order: 'descending', limit: 2 })).toEqual([
      [2600, 7],
      [2500, -1],
    ])
  })

  it('of a group are the sum of the ones that stand in it', async () => {
    const series = await shelf(points)
    const query = { from: 0, until: 3_000, grouping: '1s', aggregates: 'diff,count' }
    expect(await rowsOf(series, query)).toEqual([
      [0, 3, 3],
      [1000, null, null],
      [2000, 6, 2],
    ])
    expect(await rowsOf(series, { ...query, order: 'descending', limit: 1 })).toEqual([[2000, 6, 2]])
  })
})
