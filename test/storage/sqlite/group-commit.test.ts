/** Tests that writes handed over together are committed together, but fail separately. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CollectionSpec } from '../../../src/storage/contract.ts'
import { openMemoryBlobs } from '../../../src/storage/memory/memory-objects.ts'
import { openSqlite } from '../../../src/storage/sqlite/open-sqlite.ts'
import { COUNTERS, THINGS } from '../../contracts/storage/things.ts'
import { temporaryFolder } from './sqlite-medium.ts'

let folder = ''
beforeAll(() => {
  folder = temporaryFolder()
})
afterAll(() => rmSync(folder, { recursive: true }))

const open = () => openSqlite({ folder, blobs: openMemoryBlobs() })

describe('writes of one turn', () => {
  it('share one transaction, also those of other tenants', async () => {
    const storage = await open()
    const tenants = ['a', 'b', 'c'].map((id) => storage.tenant(id))
    await Promise.all(tenants.map((store) => store.collection(COUNTERS).put('x', { count: 0 })))
    const { commits } = storage.stats()
    const writing = tenants.flatMap((store) =>
      Array.from({ length: 50 }, (_, i) => store.collection(COUNTERS).put(`x${i}`, { count: i })),
    )
    expect(storage.stats().queued).toBe(150)
    await Promise.all(writing)
    expect(storage.stats()).toMatchObject({ queued: 0, commits: commits + 1 })
    await storage.close()
  })

  it('share it too when they are many and small, and do not wait for the turn to end when one of them is large', async () => {
    const storage = await open()
    const log = storage.tenant('small').log('inputs')
    const { commits } = storage.stats()
    await Promise.all(Array.from({ length: 200 }, () => log.append(['x'.repeat(100)])))
    expect(storage.stats().commits).toBe(commits + 1)
    await Promise.all([log.append(['x'.repeat(4_000)]), log.append(['x']), log.append(['x'])])
    expect(storage.stats().commits).toBe(commits + 3)
    await storage.close()
  })

  it('are written when one among them cannot be', async () => {
    const newer: CollectionSpec<object> = { name: 'shapes', version: 5, fields: {} }
    const first = await open()
    await first.tenant('a').collection(newer).put('x', {})
    await first.close()

    const storage = await open()
    const store = storage.tenant('a')
    const settled = await Promise.allSettled([
      store.collection(THINGS).put('before', { name: 'one' }),
      store.collection({ ...newer, version: 4 }).put('x', { lost: true }),
      store.commit([store.collection(THINGS).putting('after', {}), store.log('inputs').appending([1])]),
    ])
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(settled[1]).toMatchObject({ reason: { code: 'STORE' } })
    expect(await store.collection(THINGS).ids({})).toEqual(['after', 'before'])
    expect(await store.log('inputs').bounds()).toEqual({ first: 1, last: 1 })
    await storage.close()
  })

  it('share rows of a log, each at its own positions, and one that is rejected has none', async () => {
    const storage = await open()
    const store = storage.tenant('sharing')
    const log = store.log('inputs')
    const things = store.collection(THINGS)
    await things.put('there', { name: 'there' })
    const settled = await Promise.allSettled([
      log.append(['a']),
      store.commit([log.appending(['refused']), things.putting('there', { name: 'again' }, 'absent')]),
      store.log('others').append(['other']),
      store.commit([log.appending(['b', 'c']), log.appending(['d'])]),
      ...Array.from({ length: 300 }, (_, i) => log.append([i])),
    ])
    expect(settled.slice(0, 4)).toMatchObject([
      { value: 1 },
      { reason: { code: 'CONFLICT' } },
      { value: 1 },
      { value: { results: [3, 4] } },
    ])
    expect(settled.at(-1)).toMatchObject({ value: 304 })
    const all = await log.read(0, 400)
    expect(all.map(({ body }) => body)).toEqual(['a', 'b', 'c', 'd', ...Array.from({ length: 300 }, (_, i) => i)])
    expect(all.map(({ position }) => position)).toEqual(Array.from({ length: 304 }, (_, i) => i + 1))
    await storage.close()

    const db = new DatabaseSync(join(folder, 'state.db'))
    const sql = `SELECT count FROM entries WHERE log IN (SELECT key FROM logs WHERE tenant = 'sharing') ORDER BY log, key`
    const rows = db.prepare(sql).all()
    expect(rows.map((row) => row['count'])).toEqual([256, 48, 1])
    db.close()
  })

  it('that fill several batches, which then wait together, have each its own answer', async () => {
    const storage = await open()
    const store = storage.tenant('waiting')
    const log = store.log('inputs')
    const things = store.collection(THINGS)
    await things.put('there', { name: 'there' })
    // each is a separate batch
    const long = 'x'.repeat(4_000)
    for (let round = 0; round < 5; round++) {
      const settled = await Promise.allSettled(
        Array.from({ length: 12 }, (_, i) =>
          i % 3 === 1
            ? store.commit([log.appending([long]), things.putting('there', { name: 'again' }, 'absent')])
            : store.commit([things.putting(`t${i}`, { name: 'new' }), log.appending([`${i} ${long}`])]),
        ),
      )
      const taken = [0, 2, 3, 5, 6, 8, 9, 11]
      const expected = Array.from({ length: 12 }, (_, i) =>
        i % 3 === 1
          ? { reason: { code: 'CONFLICT' } }
          : { value: { results: [round + 1, round * taken.length + taken.indexOf(i) + 1] } },
      )
      expect(settled).toMatchObject(expected)
    }
    await storage.close()
  })

  it('append to a log what was trimmed in between', async () => {
    const storage = await open()
    const log = storage.tenant('trimming').log('inputs')
    const positions = await Promise.all([log.append([1, 2]), log.trim(2), log.append([3])])
    expect(positions).toEqual([2, undefined, 3])
    expect(await log.bounds()).toEqual({ first: 3, last: 3 })
    expect(await log.read(0)).toEqual([{ position: 3, body: 3 }])
    await storage.close()
  })
})
