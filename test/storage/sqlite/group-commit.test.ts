/** What is handed over together is written together, and stands or falls alone. */
import { rmSync } from 'node:fs'
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
      store.commit([store.collection(THINGS).putting('after', {}), store.log('inputs').appending(0, [1])]),
    ])
    expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(settled[1]).toMatchObject({ reason: { code: 'STORE' } })
    expect(await store.collection(THINGS).ids({})).toEqual(['after', 'before'])
    expect(await store.log('inputs').bounds(0)).toEqual({ first: 1, last: 1 })
    await storage.close()
  })
})
