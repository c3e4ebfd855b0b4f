/** A state.db of an older form is read as it was. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, it } from 'vitest'
import { openMemoryBlobs } from '../../../src/storage/memory/memory-objects.ts'
import { openSqlite } from '../../../src/storage/sqlite/open-sqlite.ts'
import { STATE_MIGRATIONS } from '../../../src/storage/sqlite/state-migrations.ts'
import { temporaryFolder } from './sqlite-medium.ts'

it('a log of the second form goes on after its last position, also where its entries were forgotten', async () => {
  const folder = temporaryFolder()
  try {
    const db = new DatabaseSync(join(folder, 'state.db'))
    for (const step of STATE_MIGRATIONS.slice(0, 2)) db.exec(step)
    db.exec(`
      INSERT INTO tenants VALUES ('acme');
      INSERT INTO partitions VALUES (4, 'acme', 'calls', 0, 3, 5), (7, 'acme', 'calls', 1, 10, 9);
      INSERT INTO entries VALUES (1, 4, 3, 2, '["b","c"]'), (2, 4, 5, 2, '["d","e"]');
      PRAGMA application_id = 1380341825; PRAGMA user_version = 2`)
    db.close()
    const storage = await openSqlite({ folder, blobs: openMemoryBlobs() })
    const log = storage.tenant('acme').log('calls')
    expect(await log.bounds(0)).toEqual({ first: 3, last: 5 })
    expect(await log.bounds(1)).toEqual({ first: 10, last: 9 })
    expect(await log.append(0, ['f'])).toBe(6)
    expect(await log.append(1, ['z'])).toBe(10)
    expect(await log.read(0, 2)).toEqual(['c', 'd', 'e', 'f'].map((body, i) => ({ position: i + 3, body })))
    expect(await log.read(1, 0)).toEqual([{ position: 10, body: 'z' }])
    await storage.close()
  } finally {
    rmSync(folder, { recursive: true })
  }
})
