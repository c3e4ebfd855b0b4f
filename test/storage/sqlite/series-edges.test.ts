/** Tests what the general suites of series are too small for: many buckets, many samples, and folds during reads. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Storage } from '../../../src/storage/contract.ts'
import type { Bucket, Sample } from '../../../src/storage/series.ts'
import { openMemoryBlobs } from '../../../src/storage/memory/memory-objects.ts'
import { openSqlite } from '../../../src/storage/sqlite/open-sqlite.ts'
import { temporaryFolder } from './sqlite-medium.ts'

let folder = ''
let storage: Storage
beforeAll(async () => {
  folder = temporaryFolder()
  storage = await openSqlite({ folder, blobs: openMemoryBlobs(), foldAt: 3_000 })
})
afterAll(async () => {
  await storage.close()
  rmSync(folder, { recursive: true })
})

const COUNT = 30_000
/** Samples in random order, with two resources at each time. */
const sample = (i: number): Sample => ({
  resource: (i * 7919) % COUNT < COUNT / 2 ? 'a' : 'b',
  metric: 'm',
  time: (i * 7919) % (COUNT / 2),
  value: i % 10 === 0 ? `t${i}` : i % 11 === 0 ? i % 2 === 0 : (i % 1_000) / 8,
})

function bucketsOf(samples: readonly Sample[], from: number, until: number, width: number): readonly Bucket[] {
  const inOrder = samples
    .filter(({ time }) => time >= from && time < until)
    .sort((x, y) => x.time - y.time || (x.resource < y.resource ? -1 : 1))
  const byStart = new Map<number, Sample[]>()
  for (const one of inOrder) {
    const start = from + Math.floor((one.time - from) / width) * width
    byStart.set(start, [...(byStart.get(start) ?? []), one])
  }
  return [...byStart].map(([start, some]): Bucket => {
    const numbers = some.map(({ value }) => value).filter((value) => typeof value === 'number')
    const any = numbers.length > 0
    return {
      start,
      count: some.length,
      numeric: numbers.length,
      sum: any ? numbers.reduce((sum, value) => sum + value, 0) : null,
      min: any ? Math.min(...numbers) : null,
      max: any ? Math.max(...numbers) : null,
      sumOfSquares: any ? numbers.reduce((sum, value) => sum + value * value, 0) : null,
      first: some[0]?.value ?? Number.NaN,
      last: some.at(-1)?.value ?? Number.NaN,
    }
  })
}

describe('samples in large numbers', () => {
  it('read the same while they are folded as before and after', async () => {
    const { series } = storage.tenant('folding')
    const all = Array.from({ length: COUNT }, (_, i) => sample(i))
    const progress = { written: 0 }
    const writing = (async () => {
      for (let i = 0; i < COUNT; i += 1_000) {
        await series.append({ samples: all.slice(i, i + 1_000) })
        progress.written = i + 1_000
      }
    })()
    while (progress.written < COUNT) {
      const least = progress.written
      const read = await series.range({ resources: ['a', 'b'], metric: 'm', limit: 1_000_000 })
      expect(read.length).toBeGreaterThanOrEqual(least)
      expect(read.length % 1_000, 'a batch is there whole').toBe(0)
      expect(new Set(read.map(({ resource, time }) => `${resource} ${time}`)).size, 'and no sample twice').toBe(
        read.length,
      )
    }
    await writing
    for (const resource of ['a', 'b']) {
      const expected = all.filter((one) => one.resource === resource).sort((x, y) => x.time - y.time)
      expect(await series.range({ resources: [resource], metric: 'm', limit: COUNT })).toEqual(expected)
    }
  })

  it('of many series read the same after each slice of a fold', async () => {
    const names = Array.from({ length: 40 }, (_, i) => `r${i}`)
    const own = await openSqlite({ folder: join(folder, 'slices'), blobs: openMemoryBlobs(), foldAt: 40_000 })
    const { series } = own.tenant('acme')
    const batch = (from: number) =>
      Array.from({ length: 20_000 }, (_, i): Sample => {
        return { resource: names[i % 40] ?? '', metric: 'm', time: from + Math.floor(i / 40), value: i }
      })
    await series.append({ samples: batch(0) })
    await series.append({ samples: batch(250) })
    const file = new DatabaseSync(join(folder, 'slices', 'series.db'), { readOnly: true })
    const arrived = file.prepare('SELECT count(*) AS count FROM arrivals')
    for (;;) {
      const { count } = arrived.get() as { count: number }
      const read = await series.range({ resources: names, metric: 'm', limit: 1_000_000 })
      expect(read).toHaveLength(40 * 750)
      // The second batch replaced samples of the first at the same times.
      expect(read.filter(({ time }) => time === 250).map(({ value }) => value)).toEqual(
        names.toSorted().map((name) => names.indexOf(name)),
      )
      if (count === 0) break
    }
    file.close()
    await own.close()
  })

  it('that come in very many small batches are folded, even without a pause', async () => {
    const own = await openSqlite({ folder: join(folder, 'small'), blobs: openMemoryBlobs() })
    const { series } = own.tenant('acme')
    const file = new DatabaseSync(join(folder, 'small', 'series.db'), { readOnly: true })
    const arrived = file.prepare('SELECT count(*) AS count FROM arrivals')
    const unfolded = (): number => (arrived.get() as { count: number }).count
    // Node delivers up to a thousand messages to a thread before its other work gets a turn; with 5,000 samples,
    // folding would start for another reason.
    let time = 0
    while (time < 1_200 || (time < 4_900 && unfolded() >= 1_000)) {
      await series.append({ samples: [{ resource: 'r', metric: 'm', time, value: time }] })
      time += 1
    }
    expect(unfolded()).toBeLessThan(1_000)
    file.close()
    expect(await series.range({ resources: ['r'], metric: 'm', limit: 1_000_000 })).toHaveLength(time)
    await own.close()
  })

  it.each([
    ['few', 4_000],
    ['as many as are asked for one by one', 3],
    ['more than that', 1],
  ])('fall into buckets, %s', async (_, width) => {
    const { series } = storage.tenant(`buckets-${width}`)
    const all = Array.from({ length: COUNT }, (_, i) => sample(i))
    await series.append({ samples: all.slice(0, 20_000) })
    await series.append({ samples: all.slice(20_000) })
    for (const [resources, from, until] of [
      [['a'], 0, COUNT],
      [['b', 'a'], 5, COUNT - 7],
      [['b', 'nobody'], -10, COUNT * 2],
    ] as const) {
      const asked = all.filter(({ resource }) => (resources as readonly string[]).includes(resource))
      expect(await series.buckets({ resources, metric: 'm', from, until, width })).toEqual(
        bucketsOf(asked, from, until, width),
      )
    }
  })

  it('expire in slices, all of one tenant and none of another', async () => {
    const samples = Array.from({ length: 12_000 }, (_, time): Sample => ({
      ...sample(time),
      time,
      expires: 1_000 + (time % 2),
    }))
    for (const tenant of ['mortal', 'beside']) await storage.tenant(tenant).series.append({ samples })
    const { series } = storage.tenant('mortal')
    expect(await series.expire(1_000)).toBe(6_000)
    expect(await series.expire(2_000)).toBe(6_000)
    expect(await storage.tenant('beside').series.expire(2_000)).toBe(12_000)
  })
})
