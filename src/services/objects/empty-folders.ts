/** Which folders are left without an object when some are removed (TABLE-1). */
import type { Write } from '#storage'
import { entryId, objectsFrom, type ObjectTable } from './object-table.ts'
import { foldersAround } from './paths.ts'

/** documents that a store gives at once */
const READ_AT_ONCE = 1_000

/**
 * Writes that take the documents of such folders away. `gone`: paths of one bucket; `made`: those that the same commit
 * makes. Versions are read before the look at what is in the folders: an object that is put meanwhile writes the
 * documents anew, and the commit is refused.
 */
export async function foldersWithout(
  table: ObjectTable,
  bucket: string,
  gone: readonly string[],
  made: readonly string[] = [],
): Promise<readonly Write[]> {
  const counts = new Map<string, number>()
  for (const path of gone) for (const folder of foldersAround(path)) counts.set(folder, (counts.get(folder) ?? 0) + 1)
  const versions = await versionsOf(table, bucket, [...counts.keys()])
  const isGone = new Set(gone)
  const kept = new Set(made.flatMap(foldersAround))
  const writes: Write[] = []
  // innermost first: what is kept keeps all around it
  for (const [folder, count] of [...counts].sort(([a], [b]) => b.length - a.length)) {
    if (kept.has(folder)) continue
    const inside = await objectsFrom(table, bucket, folder, { limit: count + 1 })
    if (inside.some(({ value }) => !isGone.has(value.path))) {
      for (const one of foldersAround(folder)) kept.add(one)
      continue
    }
    const id = entryId(bucket, folder)
    const version = versions.get(id)
    if (version !== undefined) writes.push(table.entries.deleting(id, version))
  }
  return writes
}

async function versionsOf(
  { entries }: ObjectTable,
  bucket: string,
  folders: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const ids = folders.map((folder) => entryId(bucket, folder))
  const versions = new Map<string, number>()
  for (let at = 0; at < ids.length; at += READ_AT_ONCE) {
    for (const { id, version } of await entries.getMany(ids.slice(at, at + READ_AT_ONCE))) versions.set(id, version)
  }
  return versions
}
