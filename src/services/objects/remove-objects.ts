/** Removes an object, a folder, or everything with a prefix, after checking everything (OBJECT-4). */
import { AppError, retryOnConflict } from '#kernel'
import type { Stored } from '#storage'
import { MAX_KEYS, type ObjectRecord, type Removed, type RemoveOptions } from './contract.ts'
import { entryId, objectsFrom, type ObjectTable } from './object-table.ts'
import type { ObjectWriter } from './object-writer.ts'
import { folderMark, folderOf, foldersAround, isFolderMark, isHiddenObject } from './paths.ts'

const SLICE = 1_000
const MAX_FOLDERS = 4_000

export interface Removal extends RemoveOptions {
  readonly bucket: string
  readonly path: string
}

export async function removeObjects(table: ObjectTable, writer: ObjectWriter, removal: Removal): Promise<Removed> {
  const { bucket, path, recursive = false } = removal
  const isNamed = path !== '' && !path.endsWith('/')
  if (isNamed && (await writer.removeOne(bucket, path))) return { paths: [path], count: 1 }
  return recursive ? removeAll(table, writer, removal) : removeFolder(table, writer, removal)
}

async function removeFolder(table: ObjectTable, writer: ObjectWriter, { bucket, path }: Removal): Promise<Removed> {
  const found = path.endsWith('/') ? await table.entries.get(entryId(bucket, path)) : undefined
  if (found === undefined) throw nothingAt(bucket, path)
  const inside = await objectsFrom(table, bucket, path, { limit: 2 })
  if (inside.some(({ value }) => value.path !== folderMark(path))) {
    throw new AppError('CONFLICT', `The folder ${path} is not empty; remove its content first, or set recursive=true`)
  }
  await writer.removeOne(bucket, folderMark(path))
  return { paths: [path], count: 1 }
}

async function removeAll(table: ObjectTable, writer: ObjectWriter, removal: Removal): Promise<Removed> {
  const { bucket, path, all = false, maxKeys, startAfter = '' } = removal
  if (!all) await refuseHidden(table, bucket, path)
  const most = maxKeys === undefined ? Number.POSITIVE_INFINITY : Math.min(maxKeys, MAX_KEYS)
  const paths: string[] = []
  let count = 0
  let after = startAfter
  for (let isLeft = true; isLeft;) {
    const wanted = Math.min(SLICE, most - count)
    const slice = await retryOnConflict(() =>
      removeSlice(table, writer, { ...removal, startAfter: after, maxKeys: wanted }),
    )
    after = slice.after
    count += slice.gone.length
    paths.push(...slice.gone.slice(0, MAX_KEYS - paths.length))
    isLeft = slice.isLeft
    if (count >= most) break
  }
  const isMore = count >= most && (await objectsFrom(table, bucket, path, { after, limit: 1 })).length > 0
  return { paths, count, ...(isMore && { next: after }) }
}

interface RemovedSlice {
  readonly gone: readonly string[]
  readonly after: string
  readonly isLeft: boolean
}

async function removeSlice(
  table: ObjectTable,
  writer: ObjectWriter,
  { bucket, path, all = false, maxKeys = SLICE, startAfter = '' }: Removal,
): Promise<RemovedSlice> {
  const found = await objectsFrom(table, bucket, path, { after: startAfter, limit: maxKeys })
  const some = fewEnough(found)
  // hidden objects stored since the check are kept
  const gone = some.filter(({ value }) => all || !isHiddenBelow(value.path, path))
  await writer.remove(gone)
  return {
    gone: gone.map(({ value }) => value.path).filter((one) => !isFolderMark(one)),
    after: some.at(-1)?.value.path ?? startAfter,
    isLeft: some.length < found.length || found.length === maxKeys,
  }
}

async function refuseHidden(table: ObjectTable, bucket: string, path: string): Promise<void> {
  for (let after = ''; ;) {
    const found = await objectsFrom(table, bucket, path, { after, limit: SLICE, field: 'hidden' })
    const hidden = found.find(({ value }) => isHiddenBelow(value.path, path))
    if (hidden !== undefined) {
      throw new AppError(
        'CONFLICT',
        `${path} has hidden objects, such as ${hidden.value.path}; set all=true to remove them too`,
      )
    }
    if (found.length < SLICE) return
    after = found.at(-1)?.value.path ?? ''
  }
}

function isHiddenBelow(path: string, prefix: string): boolean {
  return isHiddenObject(path) && folderOf(path).length >= prefix.length
}

/** Returns as many objects as one commit can remove with their folders, but at least one. */
function fewEnough(found: readonly Stored<ObjectRecord>[]): readonly Stored<ObjectRecord>[] {
  let folders = 0
  const until = found.findIndex(({ value }) => (folders += foldersAround(value.path).length) > MAX_FOLDERS)
  return until < 0 ? found : found.slice(0, Math.max(1, until))
}

function nothingAt(bucket: string, path: string): AppError {
  return new AppError('NOT_FOUND', `Nothing exists at ${path} in the bucket ${bucket}`)
}
