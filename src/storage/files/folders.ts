/** Folders that are really folders: none may be a symbolic link that leads out of the data, and new ones are durable. */
import { lstat, mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '#kernel'
import { codeOf } from './file-errors.ts'

/** The folder that names lead to from a root; `undefined` when it is not there. `STORE` for what is no folder. */
export async function folderAt(root: string, names: readonly string[]): Promise<string | undefined> {
  let folder = root
  for (const name of names) {
    folder = join(folder, name)
    if (!(await isFolder(folder))) return undefined
  }
  return folder
}

/** The same, made where it is not there. */
export async function makeFolderAt(root: string, names: readonly string[]): Promise<string> {
  let folder = root
  for (const name of names) {
    const parent = folder
    folder = join(parent, name)
    if (await isFolder(folder)) continue
    try {
      await mkdir(folder)
    } catch (thrown) {
      // Another writer was faster
      if (codeOf(thrown) !== 'EEXIST' || !(await isFolder(folder))) throw thrown
    }
    await syncFolder(parent)
  }
  return folder
}

/** Makes names that were added or taken away durable. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder)
  try {
    await handle.sync()
  } catch (thrown) {
    // Some systems cannot, and need not
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
  throw new AppError('STORE', `${folder} is no folder of this store but a link or a file; remove it`)
}
