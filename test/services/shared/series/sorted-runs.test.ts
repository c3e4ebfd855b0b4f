import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SortedRuns } from '../../../../src/services/shared/series/sorted-runs.ts'
import { randomOf } from '../../../../src/kernel/random.ts'
import { runs } from '../../../support/arbitraries/runs.ts'

function filled(values: readonly number[]): SortedRuns {
  const sorted = new SortedRuns()
  for (const value of values) sorted.add(value)
  return sorted
}

describe('numbers by rank', () => {
  it('equal those of a sorted list', () => {
    const numbers = fc.array(fc.double({ noNaN: true }), { maxLength: 50 })
    fc.assert(
      fc.property(numbers, (values) => {
        const sorted = filled(values)
        expect(values.map((_, place) => sorted.at(place))).toEqual([...Float64Array.from(values).sort()])
        expect([sorted.size, sorted.at(values.length), sorted.at(-1)]).toEqual([values.length, NaN, NaN])
      }),
      runs(200),
    )
  })

  it.each([
    ['different', 1e9],
    ['few and repeated', 7],
    ['all the same', 1],
  ])('are found across many runs, for values that are %s', (_, kinds) => {
    const values = Array.from({ length: 45_123 }, (_, i) => Math.floor(randomOf(i) * kinds) - 3)
    const sorted = filled(values)
    const expected = Float64Array.from(values).sort()
    for (const place of [0, 1, 9_999, 10_000, 22_561, 45_121, 45_122]) expect(sorted.at(place)).toBe(expected[place])
    expect(sorted.at(45_123)).toBeNaN()
  })

  it('can be added after a rank was requested', () => {
    const sorted = filled([3, 1])
    expect(sorted.at(0)).toBe(1)
    sorted.add(2)
    expect([0, 1, 2].map((place) => sorted.at(place))).toEqual([1, 2, 3])
  })
})
