/** Provides SQLite as a medium for the suites; each opening has a separate temporary folder. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openMemoryBlobs } from '../../../src/storage/memory/memory-objects.ts'
import { openSqlite, type SqliteOptions } from '../../../src/storage/sqlite/open-sqlite.ts'
import type { Medium } from '../../contracts/storage/medium.ts'

export const temporaryFolder = (): string => mkdtempSync(join(tmpdir(), 'reflexarc-sqlite-'))

export function sqliteMedium(options: Pick<SqliteOptions, 'chunk' | 'foldAt' | 'waiting'> = {}): Medium {
  return {
    async open({ clock }) {
      const folder = temporaryFolder()
      const opening = () => openSqlite({ folder, blobs: openMemoryBlobs({ clock }), clock, ...options })
      let storage = await opening()
      return {
        storage,
        async reopen() {
          await storage.close()
          storage = await opening()
          return storage
        },
        async destroy() {
          await storage.close()
          rmSync(folder, { recursive: true })
        },
      }
    },
  }
}
