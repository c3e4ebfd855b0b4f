/** Tests reads of stored data as of the time of a rehearsed input. */
import { expect, it } from 'vitest'
import type { DataPort } from '../../../src/core/index.ts'
import type { PlainObject } from '../../../src/core/spi.ts'
import { pastData } from '../../../src/host/work/rules-work.ts'

const asked: PlainObject[] = []
const DATA = {
  messages: () => Promise.resolve([{ timestamp: 30 }, { timestamp: '1970-01-01T00:00:00.020Z' }, { timestamp: 10 }]),
  latest: () =>
    Promise.resolve([
      { metric: 'a', time: 10, value: 1 },
      { metric: 'b', time: 30, value: 2 },
      { metric: 'none', time: 30, value: 3 },
    ]),
  series: (query: PlainObject) => {
    asked.push(query)
    return Promise.resolve({ series: query['metric'] === 'b' ? [[15, 7]] : [] })
  },
} as unknown as DataPort
const past = pastData(DATA)

it('returns the newest samples and messages until then', async () => {
  expect(await past.latest('r', 20)).toEqual([
    { metric: 'a', time: 10, value: 1 },
    { metric: 'b', time: 15, value: 7 },
  ])
  expect(asked[0]).toEqual({ metric: 'b', resources: ['r'], until: 20, order: 'descending', limit: 1 })
  expect(await past.messages('r', 1, 20)).toEqual([{ timestamp: '1970-01-01T00:00:00.020Z' }])
})

it.each([
  [undefined, 20],
  [15, 15],
  [25, 20],
  ['1970-01-01T00:00:00.015Z', '1970-01-01T00:00:00.015Z'],
  ['2030-01-01T00:00:00Z', 20],
  ['nonsense', 20],
])('ends a series query with until %s at %s', async (until, expected) => {
  asked.length = 0
  await past.series({ metric: 'a', until }, 20)
  expect(asked).toEqual([{ metric: 'a', until: expected }])
})
