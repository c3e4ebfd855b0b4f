/** Verifies that all hosts share one objects folder: the folder and the store must contain the same mark. */
import { link, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { machineTimers } from '#platform'
import { AppError, isStoreConflict } from '#kernel'
import type { CollectionSpec, Store } from '#storage'

const FOLDERS: CollectionSpec<{ readonly mark: string }> = { name: 'cluster_folders', version: 1, fields: {} }
const OBJECTS = 'objects'
const FILE = 'deployment.mark'

/** Compares the marks; the first host writes both. Throws `STORE` when the folder does not belong to the store. */
export async function checkSharedFolder(store: Store, folder: string): Promise<void> {
  const folders = store.collection(FOLDERS)
  const known = (await folders.get(OBJECTS))?.value.mark
  if (known === undefined) {
    const mark = (await markOf(folder)) ?? (await makeMark(folder))
    if (mark === undefined) throw new AppError('STORE', `The folder of objects ${folder} cannot be read`)
    await folders.put(OBJECTS, { mark }, 'absent').catch((error: unknown) => {
      // another host wrote its mark first; the next comparison decides
      if (!isStoreConflict(error)) throw error
    })
    return checkSharedFolder(store, folder)
  }
  if ((await markOf(folder)) === known) return
  throw new AppError(
    'STORE',
    `The folder of objects ${folder} differs from the folder of the other hosts of this cluster; mount that folder here, and set --blobs to it`,
  )
}

/** Creates the mark atomically: its file appears only when complete, and the first writer wins. */
async function makeMark(folder: string): Promise<string | undefined> {
  const mark = machineTimers.newId()
  const draft = join(folder, `${FILE}.${mark}`)
  await writeFile(draft, mark)
  try {
    await link(draft, join(folder, FILE))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await rm(draft)
  }
  return markOf(folder)
}

async function markOf(folder: string): Promise<string | undefined> {
  try {
    return await readFile(join(folder, FILE), 'utf8')
  } catch {
    return undefined
  }
}
