import type { Storage } from '../storage/contract.ts'
import type { Config } from './config.ts'

/** Opens the store that was chosen. Only its own medium is loaded. `STORE` when it cannot be used. */
export async function openMedium({ store, data }: Config): Promise<Storage> {
  if (store.medium === 'memory') {
    const { openMemory } = await import('../storage/memory/open-memory.ts')
    return openMemory()
  }
  // No service keeps objects yet; the first that does brings a medium that lasts.
  const { openMemoryBlobs } = await import('../storage/memory/memory-objects.ts')
  const blobs = openMemoryBlobs()
  if (store.medium === 'postgres') {
    const { openPostgres } = await import('../storage/postgres/open.ts')
    return openPostgres({ url: store.url, blobs })
  }
  const { openSqlite } = await import('../storage/sqlite/open-sqlite.ts')
  return openSqlite({ folder: data, blobs })
}
