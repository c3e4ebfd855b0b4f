/** Tests that trimming a long log delays nothing else. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openMemoryBlobs } from '../../../src/storage/memory/memory-objects.ts'
import { openSqlite } from '../../../src/storage/sqlite/open-sqlite.ts'
import { TRIM_ROWS } from '../../../src/storage/sqlite/state-jobs.ts'
import { temporaryFolder } from './sqlite-medium.ts'

/** Each entry has its own row; more rows than two transactions can trim */
const ENTRIES = 2 * TRIM_ROWS + 50

let folder = ''
beforeEach(() => {
  folder = temporaryFolder()
})
afterEach(() => rmSync(folder, { recursive: true }))

describe('a trim of many entries', () => {
  it('lets what is committed meanwhile pass, and leaves no row behind', async () => {
    const storage = await openSqlite({ folder, blobs: openMemoryBlobs() })
    const log = storage.tenant('acme').log('inputs')
    for (let n = 1; n <= ENTRIES; n++) await log.append([n])
    const order: string[] = []
    const trimming = log.trim(ENTRIES - 1).then(() => order.push('trimmed'))
    const appending = log.append(['later']).then((position) => order.push(`appended ${position}`))
    await Promise.all([trimming, appending])
    expect(order).toEqual([`appended ${ENTRIES + 1}`, 'trimmed'])
    expect(await log.bounds()).toEqual({ first: ENTRIES, last: ENTRIES + 1 })
    expect(await log.read(0)).toEqual([
      { position: ENTRIES, body: ENTRIES },
      { position: ENTRIES + 1, body: 'later' },
    ])
    await storage.close()
    expect(rows()).toBe(2)
  })

  it('that was cut off is finished by the next', async () => {
    const storage = await openSqlite({ folder, blobs: openMemoryBlobs() })
    const log = storage.tenant('acme').log('inputs')
    for (let n = 1; n <= ENTRIES; n++) await log.append([n])
    // closing rejects all but the first transaction
    const trimming = log.trim(ENTRIES).catch((error: { code: string }) => error.code)
    await storage.close()
    expect(await trimming).toBe('CLOSED')
    expect(rows()).toBe(ENTRIES - TRIM_ROWS)

    const again = await openSqlite({ folder, blobs: openMemoryBlobs() })
    const same = again.tenant('acme').log('inputs')
    expect(await same.bounds()).toEqual({ first: ENTRIES + 1, last: ENTRIES })
    expect(await same.read(0)).toEqual([])
    await same.trim(1)
    expect(await same.append(['next'])).toBe(ENTRIES + 1)
    await again.close()
    expect(rows()).toBe(1)
  })
})

function rows(): number {
  const db = new DatabaseSync(join(folder, 'state.db'), { readOnly: true })
  try {
    return Number(db.prepare('SELECT count(*) AS count FROM entries').get()?.['count'])
  } finally {
    db.close()
  }
}
