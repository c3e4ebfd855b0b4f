/** Finds and creates folders. Symbolic links are rejected, since they may lead out of the data. */
import { lstat, mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '#kernel'
import { codeOf } from './file-errors.ts'

/** Undefined if it does not exist. Throws `STORE` when something else is there. */
export async function folderAt(root: string, names: readonly string[]): Promise<string | undefined> {
  let folder = root
  for (const name of names) {
    folder = join(folder, name)
    if (!(await isFolder(folder))) return undefined
  }
  return folder
}

export async function makeFolderAt(root: string, names: readonly string[]): Promise<string> {
  let folder = root
  for (const name of names) {
    const parent = folder
    folder = join(parent, name)
    if (await isFolder(folder)) continue
    try {
      await mkdir(folder)
    } catch (thrown) {
      // another writer created the folder first
      if (codeOf(thrown) !== 'EEXIST' || !(await isFolder(folder))) throw thrown
    }
    await syncFolder(parent)
  }
  return folder
}

/** Syncs a folder, so that new and removed names in it are durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder)
  try {
    await handle.sync()
  } catch (thrown) {
    // some systems cannot sync folders, and do not need to
    if (!['EPERM', 'EINVAL', 'EISDIR', 'ENOTSUP'].includes(codeOf(thrown) ?? '')) throw thrown
  } finally {
    await handle.close()
  }
}

async function isFolder(folder: string): Promise<boolean> {
  try {
    const entry = await lstat(folder)
    if (entry.isDirectory()) return true
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return false
    throw thrown
  }
  throw new AppError('STORE', `${folder} is a link or a file instead of a folder; remove it`)
}
