/**
 * Tests that messages wait in blocks, and become rows when there are too many (MESSAGE-1, MESSAGE-2). The test reads
 * the file directly.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Storage } from '../../../src/storage/contract.ts'
import { openMemoryBlobs } from '../../../src/storage/memory/memory-objects.ts'
import type { NewMessage, Series } from '../../../src/storage/series.ts'
import { openSqlite, type SqliteOptions } from '../../../src/storage/sqlite/open-sqlite.ts'
import { temporaryFolder } from './sqlite-medium.ts'

let folder = ''
beforeAll(() => {
  folder = temporaryFolder()
})
afterAll(() => rmSync(folder, { recursive: true }))

const open = (name: string, options: Pick<SqliteOptions, 'waiting'> = {}): Promise<Storage> =>
  openSqlite({ folder: join(folder, name), blobs: openMemoryBlobs(), ...options })

const message = (resource: string, time: number, more: Partial<NewMessage> = {}): NewMessage => {
  return { resource, stream: 'events', time, body: { n: time }, ...more }
}

const times = async (series: Series, resource: string) =>
  (await series.messages({ resource, stream: 'events', limit: 10_000 })).map(({ time }) => time)

/** Returns what the file contains: blocks, messages in blocks, and rows. */
function standing(name: string): readonly [blocks: number, waiting: number, rows: number] {
  const db = new DatabaseSync(join(folder, name, 'series.db'), { readOnly: true })
  const count = (sql: string): number => (db.prepare(sql).get() as { count: number }).count
  const found = [
    count('SELECT count(*) AS count FROM message_blocks'),
    count('SELECT total(count) AS count FROM message_blocks'),
    count('SELECT count(*) AS count FROM messages'),
  ] as const
  db.close()
  return found
}

describe('messages that arrive', () => {
  it('few at a time share blocks, so that readers have few to look through', async () => {
    const storage = await open('few')
    const { series } = storage.tenant('acme')
    for (let time = 0; time < 300; time++) await series.append({ messages: [message('r', time)] })
    const [blocks, waiting, rows] = standing('few')
    expect([blocks, waiting, rows]).toEqual([5, 300, 0])
    expect(await times(series, 'r')).toEqual(Array.from({ length: 300 }, (_, i) => 299 - i))
    await storage.close()
  })

  it('with a position that was applied before are not kept', async () => {
    const storage = await open('applied')
    const { series } = storage.tenant('acme')
    const at = (position: number) => ({
      messages: [message('r', position * 2), message('s', position * 2 + 1)],
      applies: { log: 'broker', position },
    })
    await Promise.all([1, 1, 2, 1, 3].map((position) => series.append(at(position))))
    expect(standing('applied')).toEqual([1, 6, 0])
    expect([await times(series, 'r'), await times(series, 's')]).toEqual([
      [6, 4, 2],
      [7, 5, 3],
    ])
    await storage.close()
  })

  it('become rows, the oldest first, when more wait than may', async () => {
    const storage = await open('many', { waiting: 1_000 })
    const { series } = storage.tenant('acme')
    for (let batch = 0; batch < 30; batch++) {
      const messages = Array.from({ length: 200 }, (_, i) => message(`r${i % 7}`, batch * 200 + i))
      await series.append({ messages })
    }
    const [, waiting, rows] = standing('many')
    expect(waiting).toBeLessThanOrEqual(1_000)
    expect(waiting + rows).toBe(6_000)
    const seen = await times(series, 'r3')
    expect(seen).toEqual(seen.toSorted((one, other) => other - one))
    expect(seen).toHaveLength(870)
    await storage.close()
  })
})

describe('all but the newest', () => {
  it('go from blocks before they are rows, of many streams and of one', async () => {
    const storage = await open('pruned')
    const { series } = storage.tenant('acme')
    const names = Array.from({ length: 20 }, (_, i) => `r${i}`)
    for (let time = 0; time < 500; time++) {
      await series.append({ messages: names.map((name) => message(name, time)) })
    }
    const prune = (resource: string, keep: number) =>
      series.remove({ resource, stream: 'events', keep, only: 'messages' })
    await Promise.all(names.map((name) => prune(name, 10)))
    // grouped by stream, in as few blocks as possible
    expect(standing('pruned')).toEqual([1, 200, 0])
    await prune('r5', 3)
    expect(standing('pruned')).toEqual([1, 193, 0])
    expect(await times(series, 'r5')).toEqual([499, 498, 497])
    expect(await times(series, 'r6')).toEqual(Array.from({ length: 10 }, (_, i) => 499 - i))
    await storage.close()
    const again = await open('pruned')
    await again.tenant('acme').series.append({ messages: [message('r5', 498, { body: { late: true } })] })
    expect(await times(again.tenant('acme').series, 'r5')).toEqual([499, 498, 498, 497])
    await again.close()
  })

  it('go where older ones are rows already, of this program or of the one before', async () => {
    const before = await open('mixed', { waiting: 0 })
    await before.tenant('acme').series.append({ messages: [1, 2, 3, 4, 5].map((time) => message('r', time)) })
    await before.close()
    const storage = await open('mixed')
    const { series } = storage.tenant('acme')
    // one of these is stored already
    await series.append({ messages: [5, 6, 7].map((time) => message('r', time)) })
    expect(standing('mixed')).toEqual([1, 3, 5])
    expect(await times(series, 'r')).toEqual([7, 6, 5, 4, 3, 2, 1])
    await series.remove({ resource: 'r', stream: 'events', keep: 4, only: 'messages' })
    expect(await times(series, 'r')).toEqual([7, 6, 5, 4])
    await series.append({ messages: [8, 9].map((time) => message('r', time)) })
    await series.remove({ resource: 'r', stream: 'events', keep: 3, only: 'messages' })
    expect(await times(series, 'r')).toEqual([9, 8, 7])
    expect(standing('mixed')).toEqual([1, 2, 1])
    await storage.close()
  })
})
