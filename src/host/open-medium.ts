/** Opens the storage that was chosen. */
import { join } from 'node:path'
import type { BlobMedium } from '../storage/blob-medium.ts'
import type { Storage } from '../storage/contract.ts'
import type { Config } from './config.ts'
import { requireSqlite } from './requirements.ts'

/** Opens the store that was chosen. Only its own medium is loaded. `STORE` when it cannot be used. */
export async function openMedium({
  store,
  data,
  blobs: folder = join(data, 'blobs'),
  cluster,
}: Pick<Config, 'store' | 'data'> & Partial<Pick<Config, 'blobs' | 'cluster'>>): Promise<Storage> {
  const isShared = cluster !== undefined
  if (store.medium === 'memory') {
    const { openMemory } = await import('../storage/memory/open-memory.ts')
    return openMemory()
  }
  requireSqlite()
  if (store.medium === 'sqlite') await refuseTaken(data)
  const blobs = isShared ? await openSharedObjects(folder) : await openObjects(folder)
  try {
    if (store.medium === 'postgres') {
      const { openPostgres } = await import('../storage/postgres/open.ts')
      return await openPostgres({ url: store.url, blobs, lock: isShared ? 'shared' : 'exclusive' })
    }
    const { openSqlite } = await import('../storage/sqlite/open-sqlite.ts')
    return await openSqlite({ folder: data, blobs })
  } catch (error) {
    await blobs.close()
    throw error
  }
}

/** Whose folder it is, is told of the folder that people know, before that of the objects in it. */
async function refuseTaken(folder: string): Promise<void> {
  const { lockFolder } = await import('../storage/sqlite/folder-lock.ts')
  lockFolder(folder)()
}

async function openSharedObjects(folder: string): Promise<BlobMedium> {
  const { openFiles } = await import('../storage/files/open-files.ts')
  return openFiles({ folder, isShared: true })
}

/** Whoever opens the folder sweeps it, so it has to be ours before. */
async function openObjects(folder: string): Promise<BlobMedium> {
  const { openFiles } = await import('../storage/files/open-files.ts')
  const { lockFolder } = await import('../storage/sqlite/folder-lock.ts')
  const unlock = lockFolder(folder)
  try {
    const files = await openFiles({ folder })
    return {
      tenant: (id) => files.tenant(id),
      tenants: () => files.tenants(),
      async close() {
        await files.close()
        unlock()
      },
    }
  } catch (error) {
    unlock()
    throw error
  }
}
