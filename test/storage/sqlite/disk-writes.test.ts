/**
 * Measures how many bytes a commit writes: whole pages, so that each additional page wears the disk with every message.
 */
import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openMemoryBlobs } from '../../../src/storage/memory/memory-objects.ts'
import { openSqlite } from '../../../src/storage/sqlite/open-sqlite.ts'
import { temporaryFolder } from './sqlite-medium.ts'

/** Bytes of a page in the journal, including its header */
const FRAME = 4_120
/** Few enough that the journal does not restart meanwhile */
const TIMES = 100

let folder = ''
beforeAll(() => {
  folder = temporaryFolder()
})
afterAll(() => rmSync(folder, { recursive: true }))

describe('a hundred appends one after the other', () => {
  it.each([
    ['of a log touch two pages each: the entry, and where it is found', 1, 2.5],
    ['of two logs that are committed together, three', 2, 3.5],
  ])('%s', async (_what, logs, most) => {
    const data = join(folder, String(logs))
    const storage = await openSqlite({ folder: data, blobs: openMemoryBlobs() })
    const store = storage.tenant('acme')
    const names = Array.from({ length: logs }, (_, i) => store.log(`calls${i}`))
    const commit = () => store.commit(names.map((log) => log.appending([{ temperature: 21.5, humidity: 60 }])))
    // names and tables have been created
    await commit()
    const journal = join(data, 'state.db-wal')
    const before = statSync(journal).size
    for (let i = 0; i < TIMES; i++) await commit()
    expect((statSync(journal).size - before) / FRAME / TIMES).toBeLessThan(most)
    expect(await names[0]?.bounds()).toEqual({ first: 1, last: TIMES + 1 })
    await storage.close()
  })
})

describe('samples that come one at a time', () => {
  it('are not sorted in between: that would rewrite a page of each series', async () => {
    const data = join(folder, 'samples')
    const storage = await openSqlite({ folder: data, blobs: openMemoryBlobs() })
    const { series } = storage.tenant('acme')
    const append = (time: number) => {
      const samples = Array.from({ length: 20 }, (_, i) => ({ resource: `r${i}`, metric: 'heat', time, value: i }))
      return series.append({ samples })
    }
    await append(0)
    const journal = join(data, 'series.db-wal')
    const before = statSync(journal).size
    for (let time = 1; time <= TIMES; time++) await append(time)
    expect((statSync(journal).size - before) / FRAME / TIMES).toBeLessThan(2.5)
    expect(await series.range({ resources: ['r7'], metric: 'heat' })).toHaveLength(TIMES + 1)
    await storage.close()
  })
})

describe('messages of many devices', () => {
  it('are not written where those of each device stand: that would be a page for each', async () => {
    const data = join(folder, 'messages')
    const storage = await openSqlite({ folder: data, blobs: openMemoryBlobs() })
    const { series } = storage.tenant('acme')
    const append = (time: number) => {
      const body = { temperature: 21.5, humidity: 60 }
      const messages = Array.from({ length: 200 }, (_, i) => ({ resource: `r${i}`, stream: 'events', time, body }))
      return series.append({ messages })
    }
    // few enough in total that the journal does not restart
    for (let time = 0; time < 20; time++) await append(time)
    const journal = join(data, 'series.db-wal')
    const before = statSync(journal).size
    for (let time = 20; time < 40; time++) await append(time)
    expect((statSync(journal).size - before) / FRAME / 20).toBeLessThan(10)
    await storage.close()
  })
})
