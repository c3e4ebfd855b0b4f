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

  fact('each sample is in the bucket of its time; empty buckets are left out', async ({ series }) => {
    await series.append({
      samples: samples([
        [9, 0],
        [10, 1],
        [19, 2],
        [20, 3],
        [49, 4],
        [50, 5],
        [35, 6],
      ]),
    })
    expect(await series.buckets({ resources: ['r'], metric: 'm', from: 10, until: 50, width: 10 })).toEqual([
      bucket(10, [1, 2], 1, 2),
      bucket(20, [3], 3, 3),
      bucket(30, [6], 6, 6),
      bucket(40, [4], 4, 4),
    ])
  })

  fact('buckets count from `from`, and the last one ends at `until`', async ({ series }) => {
    await series.append({
      samples: samples([
        [3, 1],
        [12, 2],
        [13, 4],
        [22, 8],
        [25, 16],
        [26, 32],
      ]),
    })
    expect(await series.buckets({ resources: ['r'], metric: 'm', from: 3, until: 26, width: 10 })).toEqual([
      bucket(3, [1, 2], 1, 2),
      bucket(13, [4, 8], 4, 8),
      bucket(23, [16], 16, 16),
    ])
  })

  fact('times before 1970 have buckets too', async ({ series }) => {
    await series.append({
      samples: samples([
        [-25, 1],
        [-21, 2],
        [-20, 3],
        [-1, 4],
        [0, 5],
      ]),
    })
    expect(await series.buckets({ resources: ['r'], metric: 'm', from: -25, until: 5, width: 5 })).toEqual([
      bucket(-25, [1, 2], 1, 2),
      bucket(-20, [3], 3, 3),
      bucket(-5, [4], 4, 4),
      bucket(0, [5], 5, 5),
    ])
  })

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

  fact('only numbers are reckoned with; first and last are any value', async ({ series }) => {
    await series.append({
      samples: samples([
        [0, 'on'],
        [1, 2],
        [2, -4.5],
        [3, true],
        [10, 'x'],
        [11, false],
        [20, 0],
        [21, '7'],
      ]),
    })
    expect(await series.buckets({ resources: ['r'], metric: 'm', from: 0, until: 30, width: 10 })).toEqual([
      bucket(0, ['on', 2, -4.5, true], 'on', true),
      bucket(10, ['x', false], 'x', false),
      bucket(20, [0, '7'], 0, '7'),
    ])
  })

  fact('samples of several resources are pooled; at one time the first by name is first', async ({ series }) => {
    await series.append({
      samples: [
        ...samples(
          [
            [5, 1],
            [9, 2],
          ],
          'b',
        ),
        ...samples(
          [
            [5, 10],
            [9, 20],
          ],
          'a',
        ),
        ...samples([[6, 99]], 'c'),
      ],
    })
    expect(await series.buckets({ resources: ['b', 'a', 'b'], metric: 'm', from: 0, until: 10, width: 10 })).toEqual([
      bucket(0, [10, 1, 20, 2], 10, 2),
    ])
  })

  fact('late and repeated samples count once, as they are now', async ({ series }) => {
    await series.append({
      samples: samples([
        [5, 1],
        [6, 2],
        [7, 3],
      ]),
    })
    await series.append({
      samples: samples([
        [6, 20],
        [4, 40],
        [7, 'gone'],
      ]),
    })
    expect(await series.buckets({ resources: ['r'], metric: 'm', from: 0, until: 10, width: 10 })).toEqual([
      bucket(0, [40, 1, 20, 'gone'], 40, 'gone'),
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
