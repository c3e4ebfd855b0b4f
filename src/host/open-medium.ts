/** Opens the configured storage. */
import { join } from 'node:path'
import type { BlobMedium, DamageWatch, Storage } from '#storage'
import type { Logger } from '#kernel'
import type { FilesOptions } from '#storage/files'
import type { Config } from './config.ts'
import { requireSqlite } from './requirements.ts'

interface Watching {
  readonly damage?: DamageWatch
  readonly logger?: Logger
}

/** Opens the configured store, and loads only the code for its medium. Throws `STORE` when the store is unusable. */
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

/** Checks the data folder's lock first, so that the error names the folder that users know. */
async function refuseTaken(folder: string): Promise<void> {
  const { lockFolder } = await import('#storage/sqlite/folder-lock')
  lockFolder(folder)()
}

async function openSharedObjects(options: FilesOptions): Promise<BlobMedium> {
  const { openFiles } = await import('#storage/files')
  return openFiles({ ...options, isShared: true })
}

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
