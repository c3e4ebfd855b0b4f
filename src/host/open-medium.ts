/** Opens the storage that was chosen. */
import { join } from 'node:path'
import type { BlobMedium, DamageWatch, Storage } from '#storage'
import type { Logger } from '#kernel'
import type { FilesOptions } from '#storage/files'
import type { Config } from './config.ts'
import { requireSqlite } from './requirements.ts'

/** What is informed of trouble in work that goes on behind answers, and of damage. */
interface Watching {
  readonly damage?: DamageWatch
  readonly logger?: Logger
}

/** Opens the store that was chosen. Only its own medium is loaded. `STORE` when it cannot be used. */
export async function openMedium(
  {
    store,
    data,
    blobs: folder = join(data, 'blobs'),
    cluster,
  }: Pick<Config, 'store' | 'data'> & Partial<Pick<Config, 'blobs' | 'cluster'>>,
  { damage, logger }: Watching = {},
): Promise<Storage> {
  const isShared = cluster !== undefined
  if (store.medium === 'memory') {
    const { openMemory } = await import('#storage/memory')
    return openMemory()
  }
  requireSqlite()
  if (store.medium === 'sqlite') await refuseTaken(data)
  const files = { folder, ...(damage && { damage }) }
  const blobs = isShared ? await openSharedObjects(files) : await openObjects(files)
  try {
    if (store.medium === 'postgres') {
      const { openPostgres } = await import('#storage/postgres')
      return await openPostgres({ url: store.url, blobs, lock: isShared ? 'shared' : 'exclusive' })
    }
    const { openSqlite } = await import('#storage/sqlite')
    return await openSqlite({ folder: data, blobs, ...(damage && { damage }), ...(logger && { logger }) })
  } catch (error) {
    await blobs.close()
    throw error
  }
}

/** Whose folder it is, is told of the folder that people know, before that of the objects in it. */
async function refuseTaken(folder: string): Promise<void> {
  const { lockFolder } = await import('#storage/sqlite/folder-lock')
  lockFolder(folder)()
}

async function openSharedObjects(options: FilesOptions): Promise<BlobMedium> {
  const { openFiles } = await import('#storage/files')
  return openFiles({ ...options, isShared: true })
}

/** Whoever opens the folder sweeps it, so it has to be ours before. */
async function openObjects(options: FilesOptions): Promise<BlobMedium> {
  const { openFiles } = await import('#storage/files')
  const { lockFolder } = await import('#storage/sqlite/folder-lock')
  const unlock = lockFolder(options.folder)
  try {
    const files = await openFiles(options)
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
