/** Tests that samples in chunks read like single samples, even if samples arrive late, are removed or expire. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Series } from '../../../src/storage/contract.ts'
import type { Sample, SampleValue } from '../../../src/storage/series.ts'
import { openMemoryBlobs } from '../../../src/storage/memory/memory-objects.ts'
import { chunksWithin, writeChunks } from '../../../src/storage/sqlite/chunks.ts'
import { ColumnsBuilder, expiryAt, valueAt, type Columns } from '../../../src/storage/sqlite/columns.ts'
import { openWriter } from '../../../src/storage/sqlite/database.ts'
import { openSqlite } from '../../../src/storage/sqlite/open-sqlite.ts'
import { NUMBER, TEXT, TRUTH } from '../../../src/storage/sqlite/sample-block.ts'
import { SERIES_FORM } from '../../../src/storage/sqlite/series-form.ts'
import { runs } from '../../support/arbitraries/runs.ts'
import { temporaryFolder } from './sqlite-medium.ts'

let folder = ''
beforeAll(() => {
  folder = temporaryFolder()
})
afterAll(() => rmSync(folder, { recursive: true }))

const sample = (time: number, value: SampleValue = time, more: Partial<Sample> = {}): Sample => ({
  resource: 'r',
  metric: 'm',
  time,
  value,
  ...more,
})

interface Opened {
  readonly series: Series
  /** Returns chunks, and small chunks in order of arrival, as [first, last, count] */
  tables(): { readonly chunks: readonly (readonly number[])[]; readonly small: readonly (readonly number[])[] }
  /** Merges what has arrived into chunks */
  compact(): Promise<void>
  times(): Promise<readonly number[]>
}

async function withSeries(name: string, chunk: number, work: (opened: Opened) => Promise<void>): Promise<void> {
  const own = join(folder, name)
  const storage = await openSqlite({ folder: own, blobs: openMemoryBlobs(), foldAt: 1e9, chunk, clock: () => 0 })
  const file = new DatabaseSync(join(own, 'series.db'), { readOnly: true })
  const { series } = storage.tenant('acme')
  const list = (sql: string) => file.prepare(sql).all() as Record<string, number>[]
  try {
    await work({
      series,
      tables: () => ({
        chunks: list('SELECT first, last, count FROM chunks WHERE small = 0 ORDER BY first').map(Object.values<number>),
        small: list('SELECT first, last, count FROM chunks WHERE small = 1 ORDER BY key').map(Object.values<number>),
      }),
      compact: () => series.remove({ resource: 'nobody', only: 'samples' }),
      times: async () =>
        (await series.range({ resources: ['r'], metric: 'm', limit: 1_000_000 })).map(({ time }) => time),
    })
  } finally {
    file.close()
    await storage.close()
  }
}

const upTo = (count: number, from = 0): readonly number[] => Array.from({ length: count }, (_, i) => from + i)

describe('samples of a series', () => {
  it('are in chunks when they are many', async () => {
    await withSeries('many', 16, async ({ series, tables, compact, times }) => {
      await series.append({ samples: upTo(40).map((time) => sample(time)) })
      await compact()
      expect(tables()).toEqual({
        chunks: [
          [0, 19, 20],
          [20, 39, 20],
        ],
        small: [],
      })
      expect(await times()).toEqual(upTo(40))
    })
  })

  it('are in short chunks until these make up a full one', async () => {
    await withSeries('growing', 16, async ({ series, tables, compact, times }) => {
      let sent = 0
      const send = async (count: number) => {
        await series.append({ samples: upTo(count, sent).map((time) => sample(time)) })
        sent += count
        await compact()
        expect(await times()).toEqual(upTo(sent))
        return tables()
      }
      expect(await send(4)).toEqual({ chunks: [[0, 3, 4]], small: [] })
      expect(await send(1)).toEqual({ chunks: [[0, 3, 4]], small: [[4, 4, 1]] })
      expect((await send(3)).chunks).toEqual([
        [0, 3, 4],
        [4, 7, 4],
      ])
      expect(await send(9)).toEqual({ chunks: [[0, 16, 17]], small: [] })
      const full = [0, 16, 17]
      expect(await send(2)).toEqual({ chunks: [full, [17, 18, 2]], small: [] })
      // a late sample is written into the existing chunk
      await series.append({ samples: [sample(17, 'late'), sample(19), sample(20), sample(21)] })
      await compact()
      expect(tables()).toEqual({ chunks: [full, [17, 18, 2], [19, 21, 3]], small: [] })
      const [late] = await series.range({ resources: ['r'], metric: 'm', from: 17, limit: 1 })
      expect(late?.value).toBe('late')
    })
  })

  it('are not put together with those whose texts are long', async () => {
    await withSeries('long-last', 256, async ({ series, tables, compact }) => {
      const texts = upTo(200).map((time) => sample(time, `${time}${'x'.repeat(500)}`))
      await series.append({ samples: texts })
      await compact()
      await series.append({ samples: upTo(200, 200).map((time) => sample(time)) })
      await compact()
      expect(tables().chunks).toEqual([
        [0, 199, 200],
        [200, 399, 200],
      ])
    })
  })

  it('that come a few at a time come into chunks too', async () => {
    await withSeries('few', 16, async ({ series, tables, compact, times }) => {
      for (const time of upTo(40)) {
        await series.append({ samples: [sample(time)] })
        await compact()
      }
      const { chunks, small } = tables()
      expect(chunks.slice(0, 2)).toEqual([
        [0, 15, 16],
        [16, 31, 16],
      ])
      expect(small).toEqual([])
      expect(await times()).toEqual(upTo(40))
    })
  })

  // Holds CHUNK-2
  it('that come late are a small chunk over theirs, and are written into it when they are some', async () => {
    await withSeries('late', 32, async ({ series, tables, compact }) => {
      await series.append({ samples: upTo(80).map((time) => sample(time * 10, 'old')) })
      await compact()
      await series.append({ samples: [sample(20, 'new')] })
      await compact()
      expect(tables().small).toEqual([[20, 20, 1]])
      const read = async () =>
        (await series.range({ resources: ['r'], metric: 'm', until: 40 })).map(({ time, value }) => [time, value])
      const expected = [
        [0, 'old'],
        [10, 'old'],
        [20, 'new'],
        [30, 'old'],
        [40, 'old'],
      ]
      expect(await read()).toEqual(expected)
      await series.append({ samples: [sample(5, 1), sample(7, 2), sample(9, true)] })
      await compact()
      expect(tables()).toMatchObject({
        chunks: [
          [0, 390, 43],
          [400, 790, 40],
        ],
        small: [],
      })
      expect(await read()).toEqual([[0, 'old'], [5, 1], [7, 2], [9, true], ...expected.slice(1)])
    })
  })

  it('that come late between two chunks become a chunk when they make up one', async () => {
    await withSeries('between', 16, async ({ series, tables, compact, times }) => {
      for (const samples of [upTo(16), upTo(40, 1_000)]) {
        await series.append({ samples: samples.map((time) => sample(time)) })
        await compact()
      }
      await series.append({ samples: upTo(20, 100).map((time) => sample(time)) })
      await compact()
      expect(tables().chunks.map(([first]) => first)).toEqual([0, 100, 1_000, 1_020])
      expect(await times()).toEqual([...upTo(16), ...upTo(20, 100), ...upTo(40, 1_000)])
    })
  })

  it('are removed from the middle of a chunk, and return when they are sent again', async () => {
    await withSeries('removed', 16, async ({ series, tables, compact, times }) => {
      await series.append({ samples: upTo(60).map((time) => sample(time)) })
      await compact()
      await series.remove({ resource: 'r', from: 4, until: 40, only: 'samples' })
      expect(tables().chunks).toEqual([
        [0, 3, 4],
        [41, 59, 19],
      ])
      expect(await times()).toEqual([...upTo(4), ...upTo(19, 41)])
      await series.append({ samples: [sample(20)] })
      expect(await times()).toEqual([...upTo(4), 20, ...upTo(19, 41)])
      await series.remove({ resource: 'r', only: 'samples' })
      expect([tables(), await times()]).toEqual([{ chunks: [], small: [] }, []])
    })
  })

  it('that expire leave their chunk once an eighth of it has, and take along what they hid', async () => {
    await withSeries('mortal', 16, async ({ series, tables, compact, times }) => {
      await series.append({ samples: upTo(40).map((time) => sample(time, time, { expires: 100 + time })) })
      await compact()
      // it hides a sample that expires later
      await series.append({ samples: [sample(5, 'late', { expires: 50 })] })
      await compact()
      expect(await series.expire(50)).toBe(1)
      expect(await times()).toEqual(upTo(40).filter((time) => time !== 5))
      expect(await series.expire(100)).toBe(0)
      expect(await series.expire(101)).toBe(0)
      expect(await series.expire(102)).toBe(3)
      expect(tables().chunks[0]).toEqual([3, 19, 16])
      expect(await series.expire(1_000)).toBe(36)
      expect(tables()).toEqual({ chunks: [], small: [] })
    })
  })

  it('come into chunks behind texts that are too long to be read together', async () => {
    await withSeries('long-first', 1024, async ({ series, tables, compact }) => {
      const words = upTo(1_400).map((time) => sample(time, `${time}${'x'.repeat(5_000)}`))
      await series.append({ samples: words })
      await compact()
      await series.append({ samples: upTo(3_000, 1_400).map((time) => sample(time)) })
      await compact()
      const { chunks, small } = tables()
      expect(small).toEqual([])
      expect(chunks.reduce((sum, [, , count = 0]) => sum + count, 0)).toBe(4_400)
      const read = await series.range({ resources: ['r'], metric: 'm', limit: 5_000 })
      expect(read.map(({ value }) => value)).toEqual([...words.map(({ value }) => value), ...upTo(3_000, 1_400)])
    })
  })

  it('are in small chunks while their texts are long', async () => {
    await withSeries('long', 16, async ({ series, tables, compact }) => {
      const long = (time: number) => sample(time, `${time}${'x'.repeat(60_000)}`)
      await series.append({ samples: upTo(60).map(long) })
      await compact()
      const { chunks, small } = tables()
      expect([...small, ...chunks].reduce((sum, [, , count = 0]) => sum + count, 0)).toBe(60)
      expect(Math.max(0, ...chunks.map(([, , count = 0]) => count))).toBeLessThanOrEqual(4)
      const read = await series.range({ resources: ['r'], metric: 'm', descending: true, limit: 60 })
      expect(read).toEqual(upTo(60).map(long).reverse())
    })
  })

  it('of several resources read in one order, up and down, a page at a time', async () => {
    await withSeries('pooled', 4, async ({ series, compact }) => {
      const all = upTo(60).flatMap((time) => ['a', 'b'].map((resource) => sample(time * 3, time, { resource })))
      await series.append({ samples: all })
      await compact()
      for (const descending of [false, true]) {
        const expected = descending ? [...all].reverse() : all
        const read = await series.range({ resources: ['a', 'b'], metric: 'm', descending, limit: 1_000 })
        expect(read).toEqual(expected)
        const page = await series.range({
          resources: ['a', 'b'],
          metric: 'm',
          descending,
          from: 10,
          until: 100,
          limit: 7,
        })
        expect(page).toEqual(expected.filter(({ time }) => time >= 10 && time <= 100).slice(0, 7))
      }
    })
  })

  // Holds CHUNK-1
  it('are in chunks that do not overlap, whatever came when', async () => {
    let count = 0
    const times = fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 1, maxLength: 80 })
    await fc.assert(
      fc.asyncProperty(fc.array(times, { minLength: 1, maxLength: 8 }), async (batches) => {
        count += 1
        await withSeries(`random-${count}`, 8, async ({ series, tables, compact, times: read }) => {
          const seen = new Set<number>()
          for (const batch of batches) {
            await series.append({ samples: batch.map((time) => sample(time)) })
            await compact()
            for (const time of batch) seen.add(time)
            expect(await read()).toEqual([...seen].sort((a, b) => a - b))
            const { chunks } = tables()
            for (const [i, [first = 0, last = 0, size = 0]] of chunks.entries()) {
              expect(first).toBeGreaterThan(chunks[i - 1]?.[1] ?? -1)
              expect(last - first + 1).toBeGreaterThanOrEqual(size)
              expect(size).toBeLessThan(2 * 8 + 8)
            }
          }
        })
      }),
      runs(15),
    )
  })
})

describe('the columns of a chunk', () => {
  it('return as they were, in each of their forms', () => {
    const db = openWriter(join(folder, 'forms.db'), { synchronous: 'NORMAL', cacheMb: 1, checkpointPages: 1_000 })
    db.exec(SERIES_FORM.tables)
    const gap = fc.oneof(fc.constant(60_000), fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 1, max: 2 ** 40 }))
    const value = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.boolean(), fc.string())
    const list = (one: fc.Arbitrary<number>, values: fc.Arbitrary<SampleValue>, mortal: boolean) =>
      fc.array(fc.tuple(one, values, mortal ? fc.option(fc.nat()) : fc.constant(null)), { minLength: 1, maxLength: 30 })
    const samples = fc
      .tuple(fc.boolean(), fc.boolean(), fc.boolean())
      .chain(([isSteady, isMixed, isMortal]) =>
        list(isSteady ? fc.constant(1_000) : gap, isMixed ? value : fc.integer(), isMortal),
      )
    let series = 0
    fc.assert(
      fc.property(fc.integer({ min: -1e12, max: 1e12 }), samples, (start, given) => {
        series += 1
        let time = start
        const expected = given.map(([step, one, expires]) => {
          time += step
          return [time, typeof one === 'number' ? one + 0 : one, expires ?? undefined]
        })
        writeChunks(db, series, columnsOf(expected as [number, SampleValue, number | undefined][]), 100)
        const [chunk] = chunksWithin(db, series, -1e15, 1e15)
        const columns = chunk?.columns(db)
        expect(columns && shown(columns)).toEqual(expected)
      }),
      runs(300),
    )
    db.close()
  })
})

function columnsOf(samples: readonly [number, SampleValue, number | undefined][]): Columns {
  const builder = new ColumnsBuilder()
  for (const [time, value, expires] of samples) {
    const kind = typeof value === 'number' ? NUMBER : typeof value === 'boolean' ? TRUTH : TEXT
    builder.put(time, kind, kind === TEXT ? 0 : Number(value), [String(value)], expires)
  }
  return builder.columns()
}

function shown(columns: Columns): readonly unknown[] {
  return Array.from(columns.times, (time, i) => [time, valueAt(columns, i), expiryAt(columns, i)])
}
