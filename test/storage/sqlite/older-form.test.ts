/** A store that the first version wrote: its field tables had tenant and id as key, and an index for every text. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { openMemoryBlobs } from '../../../src/storage/memory/memory-objects.ts'
import { openSqlite } from '../../../src/storage/sqlite/open-sqlite.ts'
import { THINGS } from '../../contracts/storage/things.ts'
import { temporaryFolder } from './sqlite-medium.ts'

const FIRST_FORM = `
  DROP TABLE f_things; DROP TABLE t_things; DROP TABLE w_things;
  CREATE TABLE f_things (
    tenant TEXT NOT NULL, id TEXT NOT NULL, low TEXT, f0 TEXT, l0 TEXT, f1 TEXT, l1 TEXT, f2 REAL, f3 TEXT, f4 REAL, g4 REAL,
    PRIMARY KEY (tenant, id)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE t_things (
    tenant TEXT NOT NULL, field TEXT NOT NULL, value TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (tenant, field, value, id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX i_things_f4 ON f_things (tenant, f4, g4);
  CREATE INDEX i_things_t0 ON f_things (tenant, f1, f2);
  CREATE INDEX i_things_t1 ON f_things (tenant, f0, f1, f2);
  INSERT INTO f_things VALUES ('acme', 'a', NULL, 'kettle', NULL, 'on', NULL, 1, '["hot"]', NULL, NULL);
  INSERT INTO t_things VALUES ('acme', 'tags', 'hot', 'a');
  UPDATE collections SET form = '[[["name","text"],["status","text"],["size","number"],["tags","texts"],["at","place"]],[["status","size"],["name","status","size"]]]';
  PRAGMA user_version = 1`

describe('a store that the first version wrote', () => {
  it('is found in as before, written to as before, and not touched again', async () => {
    const folder = temporaryFolder()
    const file = join(folder, 'state.db')
    const open = () => openSqlite({ folder, blobs: openMemoryBlobs() })
    try {
      const first = await open()
      const before = first.tenant('acme').collection(THINGS)
      await before.put('gone', { tags: ['hot'] })
      await before.delete('gone')
      await before.put('a', { name: 'kettle', status: 'on', size: 1, tags: ['hot'] })
      await before.put('b', { name: 'stove', status: 'on', size: 2, tags: ['hot', 'iron'] })
      await first
        .tenant('other')
        .collection(THINGS)
        .put('a', { status: 'on', tags: ['hot'] })
      await first.close()
      const older = new DatabaseSync(file)
      older.exec(FIRST_FORM)
      older.close()

      const second = await open()
      const things = second.tenant('acme').collection(THINGS)
      const hot = { field: 'tags', op: 'eq', value: 'hot' } as const
      const on = { field: 'status', op: 'eq', value: 'on' } as const
      const sort = [{ field: 'size', descending: true }]
      expect(await things.ids({ where: [hot, on], sort })).toEqual(['b', 'a'])
      expect(await things.count([hot, on])).toBe(2)
      expect(await things.get('a')).toEqual({
        id: 'a',
        version: 1,
        value: { name: 'kettle', status: 'on', size: 1, tags: ['hot'] },
      })
      expect(await things.put('gone', { status: 'on', tags: ['hot'] }, 'absent')).toBe(2)
      expect(await things.put('a', { size: 3, status: 'on', tags: ['cold'] }, 1)).toBe(2)
      expect(await things.ids({ where: [hot, on], sort })).toEqual(['b', 'gone'])
      expect(await things.delete('b')).toBe(true)
      expect(await things.ids({ where: [hot], sort })).toEqual(['gone'])
      await second.close()

      const database = new DatabaseSync(file)
      expect(database.prepare('PRAGMA user_version').get()).toEqual({ user_version: 3 })
      expect(database.prepare('SELECT name, filled FROM collections').all()).toEqual([{ name: 'things', filled: 1 }])
      database.close()
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})
