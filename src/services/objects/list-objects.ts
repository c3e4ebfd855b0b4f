/** Pages of a bucket: all that begins with a prefix, or what is in one folder. */
import type { Condition } from '#storage'
import { DEFAULT_KEYS, isHidden, MAX_KEYS, type ListOptions, type ObjectListing } from './contract.ts'
import { afterAllOf, keyOf, siblingIn, type ObjectEntry, type ObjectTable } from './object-table.ts'

/** pages of hidden objects that are passed over before the rest is left to the next page */
const MAX_LOOKS = 20

/** `startAfter`: a path, of an entry or not. */
export async function listObjects(
  table: ObjectTable,
  bucket: string,
  prefix: string,
  { recursive = false, maxKeys = DEFAULT_KEYS, startAfter = '', all = false }: ListOptions,
): Promise<ObjectListing> {
  const limit = Math.min(maxKeys, MAX_KEYS)
  const folder = recursive ? '' : prefix.slice(0, prefix.lastIndexOf('/') + 1)
  const isBehindPrefix = startAfter !== '' && !isBefore(startAfter, prefix)
  // behind everything in the folder
  if (isBehindPrefix && !startAfter.startsWith(folder)) return { entries: [] }
  const field = recursive ? 'key' : 'sibling'
  const placeOf = (path: string) =>
    recursive ? keyOf(bucket, path) : siblingIn(bucket, folder, path.slice(folder.length))
  const end = afterAllOf(placeOf(prefix))
  const entries: ObjectEntry[] = []
  let after: Condition = isBehindPrefix
    ? { field, op: 'gt', value: placeOf(startAfter) }
    : { field, op: 'gte', value: placeOf(prefix) }
  for (let looks = 1; ; looks++) {
    const wanted = limit + 1 - entries.length
    const found = await table.entries.find({
      where: [after, { field, op: 'lt', value: end }],
      sort: [{ field }],
      limit: wanted,
    })
    const last = found.at(-1)?.value
    for (const { value } of found) if (all || !isHidden(value.path)) entries.push(value)
    if (entries.length > limit) return { entries: entries.slice(0, limit), next: entries[limit - 1]?.path ?? '' }
    if (last === undefined || found.length < wanted) return { entries }
    if (looks === MAX_LOOKS) return { entries, next: last.path }
    after = { field, op: 'gt', value: placeOf(last.path) }
  }
}

/** In byte order. */
function isBefore(a: string, b: string): boolean {
  return Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0
}
