import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSeries } from '../../../../src/services/broker/series/create-series.ts'
import { SampleReader } from '../../../../src/services/shared/series/sample-reader.ts'
import type { Sample, Storage, Store } from '../../../../src/storage/contract.ts'
import { openMemory } from '../../../../src/storage/memory/open-memory.ts'
import { openMemoryBlobs } from '../../../../src/storage/memory/memory-objects.ts'
import { openSqlite } from '../../../../src/storage/sqlite/open-sqlite.ts'
import { testFolder } from '../../../support/test-folder.ts'

const RESOURCES = ['a', 'b', 'c']
const TIMES = 8_000
const SPAN = { resources: RESOURCES, metric: 'm', from: 0, until: TIMES }

const folder = testFolder()
const media: readonly [string, () => Storage | Promise<Storage>][] = [
  ['memory', () => openMemory()],
  ['sqlite', () => openSqlite({ folder, blobs: openMemoryBlobs() })],
]

describe.each(media)('three resources with a sample at each time, over several pages, in %s', (_, open) => {
  let storage: Storage
  let store: Store
  beforeAll(async () => {
    storage = await open()
    store = storage.tenant('t')
    const samples = Array.from({ length: TIMES }, (_, time) => {
      return RESOURCES.map((resource, i): Sample => ({ resource, metric: 'm', time, value: i * TIMES + time }))
    })
    await store.series.append({ samples: samples.flat() })
  })
  afterAll(async () => {
    await storage.close()
  })

  it.each([false, true])('are read once each and in order; descending: %s', async (descending) => {
    const seen: string[] = []
    for await (const { times, values } of new SampleReader(store.series).columns(SPAN, descending)) {
      times.forEach((time, i) => seen.push(`${time} ${RESOURCES[Math.floor(Number(values[i]) / TIMES)]}`))
    }
    const ascending = Array.from({ length: TIMES }, (_, time) =>
      RESOURCES.map((resource) => `${time} ${resource}`),
    ).flat()
    expect(seen).toEqual(descending ? ascending.toReversed() : ascending)
  })

  it('are rejected above the limit, exactly', async () => {
    const readAll = async (most: number): Promise<number> => {
      let count = 0
      for await (const { times } of new SampleReader(store.series, { most }).columns(SPAN)) count += times.length
      return count
    }
    expect(await readAll(24_000)).toBe(24_000)
    await expect(readAll(23_999)).rejects.toMatchObject({ code: 'TOO_LARGE' })
  })

  it('have the same aggregates, whether storage computes them or samples are read', async () => {
    const { series } = createSeries({ store, now: () => TIMES })
    const body = { metric: 'm', resources: RESOURCES, from: 0, until: TIMES, grouping: '3s' }
    const figures = ['count', 'sum', 'min', 'max', 'first', 'last', 'mean']
    const reckoned = await series.query({ ...body, aggregates: figures })
    const through = await series.query({ ...body, aggregates: [...figures, 'median'] })
    const rows = 'series' in through ? through.series : []
    expect(rows.map((row) => row.slice(0, -1))).toEqual('series' in reckoned ? reckoned.series : undefined)
    expect(rows.map((row) => row.at(-1))).toEqual([9_499.5, 12_499.5, 14_999.5])
  })
})
