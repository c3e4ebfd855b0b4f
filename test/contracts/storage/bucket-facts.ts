/** Buckets of samples, against what they say of themselves. */
import { expect } from 'vitest'
import type { Storage } from '../../../src/storage/contract.ts'
import type { Bucket, SampleValue } from '../../../src/storage/series.ts'
import { expectCode, storeFact, type Suite } from './medium.ts'

const samples = (pairs: readonly (readonly [number, SampleValue])[], resource = 'r') =>
  pairs.map(([time, value]) => ({ resource, metric: 'm', time, value }))

const bucket = (start: number, values: readonly SampleValue[], first: SampleValue, last: SampleValue): Bucket => {
  const numbers = values.filter((value) => typeof value === 'number')
  const some = numbers.length > 0
  return {
    start,
    count: values.length,
    numeric: numbers.length,
    sum: some ? numbers.reduce((sum, value) => sum + value, 0) : null,
    min: some ? Math.min(...numbers) : null,
    max: some ? Math.max(...numbers) : null,
    sumOfSquares: some ? numbers.reduce((sum, value) => sum + value * value, 0) : null,
    first,
    last,
  }
}

export function definesBuckets(suite: Suite<Storage>): void {
  const fact = storeFact(suite)

  fact('times of today and odd widths do not round', async ({ series }) => {
    const from = 1_700_000_000_123
    const width = 3_333
    await series.append({
      samples: samples([
        [from, 1],
        [from + width - 1, 2],
        [from + width, 3],
        [from + 1_000 * width - 1, 4],
        [from + 1_000 * width, 5],
      ]),
    })
    expect(await series.buckets({ resources: ['r'], metric: 'm', from, until: from + 1_001 * width, width })).toEqual([
      bucket(from, [1, 2], 1, 2),
      bucket(from + width, [3], 3, 3),
      bucket(from + 999 * width, [4], 4, 4),
      bucket(from + 1_000 * width, [5], 5, 5),
    ])
  })

  fact('a million buckets may be asked for, not more', async ({ series }) => {
    await series.append({
      samples: samples([
        [0, 1],
        [999_999, 2],
      ]),
    })
    const ask = { resources: ['r'], metric: 'm', from: 0, width: 1 }
    expect(await series.buckets({ ...ask, until: 1_000_000 })).toHaveLength(2)
    await expectCode(() => series.buckets({ ...ask, until: 1_000_001 }), 'TOO_LARGE')
    expect(await series.buckets({ ...ask, until: 0 })).toEqual([])
    expect(await series.buckets({ ...ask, until: -10 })).toEqual([])
    for (const width of [0, -1, 0.5, Number.NaN, Infinity]) {
      await expectCode(() => series.buckets({ ...ask, until: 10, width }), 'VALIDATION', String(width))
    }
    await expectCode(() => series.buckets({ ...ask, until: Number.NaN }), 'VALIDATION')
    await expectCode(() => series.buckets({ ...ask, until: 10, resources: [] }), 'VALIDATION')
  })
}
