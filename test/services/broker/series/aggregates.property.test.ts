import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Sample, SampleValue } from '../../../../src/storage/contract.ts'
import { runs } from '../../../support/arbitraries/runs.ts'
import { shelf } from './support/series-in-memory.ts'

const LAST = 100
const NAMES = ['a', 'b', 'c']

const values = fc.oneof(
  { weight: 6, arbitrary: fc.double({ min: -1e6, max: 1e6, noNaN: true }) },
  { weight: 3, arbitrary: fc.integer({ min: 1e9, max: 1e9 + 3 }) },
  { weight: 2, arbitrary: fc.integer({ min: 0, max: 2 }) },
  fc.constantFrom<SampleValue>('', '12', 'text', true, false),
)
const samples = fc.uniqueArray(
  fc.record({
    resource: fc.constantFrom(...NAMES),
    metric: fc.constant('m'),
    time: fc.integer({ min: 0, max: LAST }),
    value: values,
  }),
  { selector: ({ resource, time }) => `${resource} ${time}`, maxLength: 60 },
)
const questions = fc.record({
  resources: fc.shuffledSubarray(NAMES, { minLength: 1 }),
  from: fc.integer({ min: 0, max: LAST }),
  length: fc.integer({ min: 1, max: LAST }),
  width: fc.integer({ min: 1, max: 60 }),
  share: fc.integer({ min: 1, max: 1_000 }).map((thousandths) => thousandths / 1_000),
})

/** Computes an aggregate by its definition, for samples in order. */
function naive(group: readonly SampleValue[], share: number): readonly (SampleValue | null)[] {
  const numbers = group.filter((value) => typeof value === 'number')
  const sorted = numbers.toSorted((a, b) => a - b)
  const n = sorted.length
  const sum = numbers.reduce((total, value) => total + value, 0)
  const of = <T>(value: T): T | null => (n === 0 ? null : value)
  const mean = sum / n
  const squares = numbers.reduce((total, value) => total + (value - mean) ** 2, 0)
  const at = (rank: number): number => sorted[rank - 1] ?? Number.NaN
  const place = 1 + share * (n - 1)
  const whole = Math.floor(place)
  const between = (): number => at(whole) + (place - whole) * (at(whole + 1) - at(whole))
  return [
    of(mean),
    of((at(Math.floor((n + 1) / 2)) + at(Math.ceil((n + 1) / 2))) / 2),
    of(at(1)),
    of(at(n)),
    of(sum),
    group.length,
    n,
    group.length - n,
    group[0] ?? null,
    group.at(-1) ?? null,
    of(n === 1 ? 0 : Math.sqrt(squares / (n - 1))),
    of(place >= n ? at(n) : between()),
  ]
}

const AGGREGATES = [
  'mean',
  'median',
  'min',
  'max',
  'sum',
  'count',
  'count-numeric',
  'count-non-numeric',
  'first',
  'last',
  'std',
]

function close(actual: unknown, expected: unknown): void {
  if (typeof expected !== 'number' || typeof actual !== 'number') return expect(actual).toBe(expected)
  expect(Math.abs(actual - expected)).toBeLessThanOrEqual(
    1e-6 * Math.max(1, Math.abs(expected)) ** 0.5 + 1e-9 * Math.abs(expected),
  )
}

function inOrder(all: readonly Sample[], resources: readonly string[]): readonly Sample[] {
  const found = all.filter(({ resource }) => resources.includes(resource))
  return found.toSorted((a, b) => a.time - b.time || (a.resource < b.resource ? -1 : 1))
}

describe('aggregates', () => {
  it.each([
    ['that storage reckons', AGGREGATES.filter((name) => name !== 'median'), false],
    ['that go through the samples', AGGREGATES, true],
  ])('%s equal naive ones, pooled, with texts and truth values', async (_, asked, ranked) => {
    await fc.assert(
      fc.asyncProperty(samples, questions, async (all, { resources, from, length, width, share }) => {
        const until = from + length
        const { series } = await shelf(all)
        const aggregates = ranked ? [...asked, `percentile(${share})`] : asked
        const answer = await series.query({
          metric: 'm',
          resources,
          from,
          until,
          grouping: `PT${(width / 1_000).toFixed(3)}S`,
          aggregates,
        })
        const rows = 'series' in answer ? answer.series : []
        expect(rows.map(([label]) => label)).toEqual(
          Array.from({ length: Math.ceil(length / width) }, (_, k) => from + k * width),
        )
        const found = inOrder(all, resources)
        for (const [label, ...values] of rows) {
          const start = Number(label)
          const group = found.filter(({ time }) => time >= start && time < start + width && time <= until)
          const all = naive(
            group.map(({ value }) => value),
            share,
          )
          const expected = ranked ? all : all.filter((_, i) => AGGREGATES[i] !== 'median' && i < AGGREGATES.length)
          if (group.length === 0) expect(values).toEqual(aggregates.map(() => null))
          else for (const [i, value] of values.entries()) close(value, expected[i])
        }
      }),
      runs(150),
    )
  })
})

describe('differences', () => {
  it('of a range add up to the way from its first number to its last', async () => {
    const integers = fc.uniqueArray(fc.tuple(fc.nat(LAST), fc.integer({ min: -1_000, max: 1_000 })), {
      selector: ([time]) => time,
      maxLength: 30,
    })
    await fc.assert(
      fc.asyncProperty(integers, fc.integer({ min: 1, max: 60 }), async (points, width) => {
        const shelved = await shelf(points)
        const query = { from: 0, until: LAST, aggregate: 'diff' }
        const sumOf = async (grouping?: string): Promise<number> => {
          const { series } = await shelved.series.get('r', 'm', { ...query, ...(grouping && { grouping }) })
          return series.reduce((sum, [, value]) => sum + Number(value ?? 0), 0)
        }
        const sorted = points.filter(([time]) => time < LAST).toSorted(([a], [b]) => a - b)
        const way = (list: typeof sorted): number => (list.at(-1)?.[1] ?? 0) - (list[0]?.[1] ?? 0)
        expect(await sumOf()).toBe(way(points.toSorted(([a], [b]) => a - b)))
        if (LAST % width === 0) expect(await sumOf(`PT${(width / 1_000).toFixed(3)}S`)).toBe(way(sorted))
      }),
      runs(100),
    )
  })
})
