/**
 * Listings of resources. Where the store can answer by itself it does; what it cannot find out or order by is looked
 * through in slices, between which others have their turn.
 */
import type { Page } from '../../../kernel/page.ts'
import type { Condition } from '../../../storage/contract.ts'
import type { ListQuery, ResourceEntity } from '../contract.ts'
import type { ResourceRecord } from '../resource-record.ts'
import type { Room } from '../room.ts'
import { project, valueAt } from './project.ts'
import { readListing, type Listing } from './read-listing.ts'

/** `among`: what must hold besides what the query asks. Throws `VALIDATION`. */
export async function listResources(
  room: Room,
  query: ListQuery,
  among: readonly Condition[] = [],
): Promise<Page<ResourceEntity>> {
  const listing = readListing(query)
  const where = [...among, ...listing.where]
  const { skip, limit } = listing
  const isEasy = listing.checks.length === 0 && listing.sort.isField
  const { records, total } = isEasy ? await asked(room, where, listing) : await lookedThrough(room, where, listing)
  const values: ResourceEntity[] = []
  for (const record of records) values.push(project(await shownAs(room, record, listing), listing.fields))
  return { values, skip, limit, total }
}

interface Found {
  readonly records: readonly ResourceRecord[]
  readonly total: number
}

async function asked(room: Room, where: readonly Condition[], { sort, skip, limit }: Listing): Promise<Found> {
  const { resources } = room.books
  const byId = sort.path === 'id' && !sort.descending
  const order = byId ? {} : { sort: [{ field: sort.path, descending: sort.descending }] }
  const [found, total] = await Promise.all([
    limit === 0 ? [] : resources.find({ where, ...order, offset: skip, limit }),
    resources.count(where),
  ])
  return { records: found.map(({ value }) => value), total }
}

/** of one reading of the store */
const SLICE = 500

type Key = string | number | undefined

async function lookedThrough(room: Room, where: readonly Condition[], listing: Listing): Promise<Found> {
  const { sort, skip, limit, checks } = listing
  const byId = sort.path === 'id' && !sort.descending
  const page: ResourceRecord[] = []
  const keys: { readonly id: string; readonly key: Key }[] = []
  let total = 0
  for await (const record of walk(room, where)) {
    const shown = await shownAs(room, record, { denormalized: true })
    if (!checks.every((holds) => holds(shown))) continue
    if (!byId) keys.push({ id: shown.id, key: keyOf(valueAt(shown, sort.path)) })
    else if (total >= skip && page.length < limit) page.push(record)
    total += 1
  }
  if (byId) return { records: page, total }
  keys.sort((a, b) => compareKeys(a.key, b.key, sort.descending) || (a.id < b.id ? -1 : 1))
  const ids = keys.slice(skip, skip + limit).map(({ id }) => id)
  const records = ids.length === 0 ? [] : (await room.books.resources.getMany(ids)).map(({ value }) => value)
  return { records, total }
}

async function* walk(room: Room, where: readonly Condition[]): AsyncGenerator<ResourceRecord> {
  let afterId: string | undefined
  for (;;) {
    const slice = await room.books.resources.find({ where, limit: SLICE, ...(afterId !== undefined && { afterId }) })
    for (const { value } of slice) yield value
    if (slice.length < SLICE) return
    afterId = slice.at(-1)?.id
    await turn()
  }
}

/** A store that answers at once would keep everybody else waiting. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

async function shownAs(
  room: Room,
  record: ResourceRecord,
  { denormalized }: Pick<Listing, 'denormalized'>,
): Promise<ResourceEntity> {
  return denormalized ? room.show(record, await room.typeOf(record)) : room.contacts.current(record.own)
}

function keyOf(value: unknown): Key {
  if (typeof value === 'boolean') return String(value)
  return typeof value === 'string' || typeof value === 'number' ? value : undefined
}

/** Numbers before texts; those that have none come last in either direction. */
function compareKeys(a: Key, b: Key, descending: boolean): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? 1 : -1
  const order = typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === 'number' ? -1 : 1
  return descending ? -order : order
}
