/** Searches a folder of objects for damage. Only reads, and may run while a host uses the folder. */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '#kernel'
import { codeOf } from './file-errors.ts'
import { contentCheck, openObject, readInfo, streamAt } from './object-file.ts'
import { objectNames, tenantOf } from './object-name.ts'
import { pathsIn } from './path-list.ts'

export interface ExaminedObject {
  readonly tenant: string
  readonly path: string
  /** what is damaged; undefined for an intact object */
  readonly problem: string | undefined
}

export async function* examineObjects(folder: string): AsyncIterable<ExaminedObject> {
  const root = join(folder, 'objects')
  for (const name of await namesIn(root)) {
    const tenant = tenantOf(name)
    if (tenant === undefined) continue
    for await (const path of pathsIn(join(root, name), [])) {
      const { folders, file } = objectNames(path)
      const problem = await problemOf(join(root, name, ...folders, file), path)
      yield { tenant, path, problem }
    }
  }
}

async function problemOf(file: string, path: string): Promise<string | undefined> {
  try {
    const handle = await openObject(file)
    // removed since it was listed
    if (handle === undefined) return undefined
    let isStreaming = false
    try {
      const info = await readInfo(handle, path)
      const check = contentCheck(info)
      isStreaming = true
      for await (const piece of streamAt(handle, 0, info.size)) check(piece)
    } finally {
      if (!isStreaming) await handle.close()
    }
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw error
  }
}
