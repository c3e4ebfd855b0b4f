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
  const range = recursive ? keyRange(bucket, prefix, startAfter) : siblingRange(bucket, prefix, startAfter)
  if (range === undefined || limit === 0) return { entries: [] }
  const entries: ObjectEntry[] = []
  let { after } = range
  for (let looks = 1; ; looks++) {
    const wanted = limit + 1 - entries.length
    const found = await table.entries.find({
      where: [after, { field: range.field, op: 'lt', value: range.end }],
      sort: [{ field: range.field }],
      limit: wanted,
    })
    const last = found.at(-1)?.value
    for (const { value } of found) if (all || !isHidden(value.path)) entries.push(value)
    if (entries.length > limit) return { entries: entries.slice(0, limit), next: entries[limit - 1]?.path ?? '' }
    if (last === undefined || found.length < wanted) return { entries }
    if (looks === MAX_LOOKS) return { entries, next: last.path }
    after = { field: range.field, op: 'gt', value: range.placeOf(last.path) }
  }
}

interface Range {
  readonly field: 'key' | 'sibling'
  readonly after: Condition
  /** the first place behind it */
  readonly end: string
  placeOf(path: string): string
}

function keyRange(bucket: string, prefix: string, startAfter: string): Range | undefined {
  const field = 'key'
  const placeOf = (path: string) => keyOf(bucket, path)
  const end = afterAllOf(placeOf(prefix))
  if (!isBefore(startAfter, prefix) && startAfter !== '')
    return { field, after: { field, op: 'gt', value: placeOf(startAfter) }, end, placeOf }
  return { field, after: { field, op: 'gte', value: placeOf(prefix) }, end, placeOf }
}

/** Undefined when everything in the folder comes before `startAfter`. */
function siblingRange(bucket: string, prefix: string, startAfter: string): Range | undefined {
  const field = 'sibling'
  const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1)
  const placeOf = (path: string) => siblingIn(bucket, folder, path.slice(folder.length))
  const end = afterAllOf(placeOf(prefix))
  if (startAfter === '' || isBefore(startAfter, prefix)) {
    return { field, after: { field, op: 'gte', value: placeOf(prefix) }, end, placeOf }
  }
  // behind everything that begins with the folder
  if (!startAfter.startsWith(folder)) return undefined
  return { field, after: { field, op: 'gt', value: placeOf(startAfter) }, end, placeOf }
}

/** In byte order. */
function isBefore(a: string, b: string): boolean {
  return Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0
}
