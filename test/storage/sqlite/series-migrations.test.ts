/** A series.db of an older form is read as it was. */
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openMemoryBlobs } from '../../../src/storage/memory/memory-objects.ts'
import { openSqlite } from '../../../src/storage/sqlite/open-sqlite.ts'
import { SERIES_MIGRATIONS } from '../../../src/storage/sqlite/series-migrations.ts'
import { temporaryFolder } from './sqlite-medium.ts'

let folder = ''
beforeAll(() => {
  folder = temporaryFolder()
})
afterAll(() => rmSync(folder, { recursive: true }))

/** As a version that knew only the first steps left it. */
function made(name: string, steps: number, rows: string): string {
  const own = join(folder, name)
  mkdirSync(own)
  const db = new DatabaseSync(join(own, 'series.db'))
  for (const step of SERIES_MIGRATIONS.slice(0, steps)) db.exec(step)
  db.exec(`${rows}; PRAGMA application_id = 1380341825; PRAGMA user_version = ${steps}`)
  db.close()
  return own
}

describe('a series.db of the first form', () => {
  it('keeps what arrived and was not folded, over what was', async () => {
    const old = made(
      'first',
      1,
      `INSERT INTO tenants VALUES ('acme');
      INSERT INTO series VALUES (7, 'acme', 'boiler', 'heat'), (8, 'acme', 'boiler', 'mode');
      INSERT INTO samples VALUES (7, 10, 1.5, NULL, NULL), (7, 20, 2.5, NULL, NULL);
      INSERT INTO arrived VALUES
        (1, 7, 20, 3.5, NULL, NULL), (2, 7, 20, 4.5, NULL, NULL), (3, 7, 15, NULL, 1, NULL), (4, 8, 15, NULL, 'auto', 9e15);
      INSERT INTO applied VALUES ('acme', 'broker', 0, 12)`,
    )
    const storage = await openSqlite({ folder: old, blobs: openMemoryBlobs() })
    const { series } = storage.tenant('acme')
    const read = async (metric: string) =>
      (await series.range({ resources: ['boiler'], metric })).map(({ time, value, expires }) => [time, value, expires])
    expect(await read('heat')).toEqual([
      [10, 1.5, undefined],
      [15, true, undefined],
      [20, 4.5, undefined],
    ])
    expect(await read('mode')).toEqual([[15, 'auto', 9e15]])
    expect(await series.applied('broker', 0)).toBe(12)
    await storage.close()
  })
})
