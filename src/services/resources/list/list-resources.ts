/**
 * Listings of resources. Where the store can answer by itself it does; what it cannot find out or order by is looked
 * through in slices, between which others have their turn.
 */
import type { Page } from '#kernel'
import { type Condition, portions } from '#storage'
import { machineTimers } from '#platform'
import type { ListQuery, ResourceEntity } from '../contract.ts'
import type { ResourceRecord } from '../resource-record.ts'
import type { TenantResources } from '../tenant-resources.ts'
import { aroundCircle, cutCircle, isWithin, type Circle, type CutCircle, type Point } from './circle.ts'
import { pageOf } from './list-documents.ts'
import { project, valueAt } from './project.ts'
import { readListing, type Listing } from './read-listing.ts'

/** `among`: what must hold besides what the query asks. Throws `VALIDATION`. */
export async function listResources(
  tenantResources: TenantResources,
  query: ListQuery,
  among: readonly Condition[] = [],
): Promise<Page<ResourceEntity>> {
  const listing = readListing(query)
  const where = [...among, ...listing.where]
  const { records, total } = await found(tenantResources, where, listing)
  const values: ResourceEntity[] = []
  for (const record of records) values.push(project(await shownAs(tenantResources, record, listing), listing.fields))
  return { values, skip: listing.skip, limit: listing.limit, total }
}

interface Found {
  readonly records: readonly ResourceRecord[]
  readonly total: number
}

function found(tenantResources: TenantResources, where: readonly Condition[], listing: Listing): Promise<Found> {
  const { circle, check, sort } = listing
  const isByStore = check === undefined && sort.isField
  if (circle === undefined)
    return isByStore ? asked(tenantResources, where, listing) : lookedThrough(tenantResources, where, listing)
  const cut = check === undefined && isById(listing) ? cutCircle(circle) : undefined
  if (cut !== undefined) return counted(tenantResources, where, listing, circle, cut)
  const isNear = (shown: ResourceEntity): boolean => isWithin(circle, placeOf(shown) ?? NOWHERE)
  return lookedThrough(tenantResources, [...where, aroundCircle(circle)], listing, isNear)
}

function isById({ sort }: Listing): boolean {
  return sort.path === 'id' && !sort.descending
}

async function asked(tenantResources: TenantResources, where: readonly Condition[], listing: Listing): Promise<Found> {
  const { resources } = tenantResources.collections
  const { sort, skip, limit } = listing
  const order = isById(listing) ? {} : { sort: [{ field: sort.path, descending: sort.descending }] }
  const { values, total } = await pageOf(resources, where, { skip, limit, ...order }, (record) => record)
  return { records: values, total }
}

/** of one reading of the store */
const SLICE = 500

type Key = string | number | undefined

/** In the order of ids: a page is full before all places are measured, and most of them are counted only. */
async function counted(
  tenantResources: TenantResources,
  where: readonly Condition[],
  { skip, limit }: Listing,
  circle: Circle,
  cut: CutCircle,
): Promise<Found> {
  const [records, certain, measured] = await Promise.all([
    firstWithin(tenantResources, [...where, cut.around], circle, skip, limit),
    cut.inside === undefined ? 0 : tenantResources.collections.resources.count([...where, cut.around, cut.inside]),
    countEdge(tenantResources, [...where, cut.around, cut.edge], circle, cut),
  ])
  return { records, total: certain + measured }
}

async function firstWithin(
  tenantResources: TenantResources,
  where: readonly Condition[],
  circle: Circle,
  skip: number,
  limit: number,
): Promise<readonly ResourceRecord[]> {
  const page: ResourceRecord[] = []
  if (limit === 0) return page
  let passed = 0
  // the box has little more than the circle
  const slice = Math.min(SLICE, Math.ceil((skip + limit) * 1.5))
  for await (const record of recordsOf(tenantResources, where, slice)) {
    const place = await placeOfRecord(tenantResources, record)
    if (place === undefined || !isWithin(circle, place)) continue
    if (passed >= skip) page.push(record)
    passed += 1
    if (page.length === limit) break
  }
  return page
}

async function countEdge(
  tenantResources: TenantResources,
  where: readonly Condition[],
  circle: Circle,
  cut: CutCircle,
): Promise<number> {
  let count = 0
  for await (const record of recordsOf(tenantResources, where)) {
    const place = await placeOfRecord(tenantResources, record)
    if (place !== undefined && !cut.isInside(place) && isWithin(circle, place)) count += 1
  }
  return count
}

const NOWHERE: Point = { lat: Number.NaN, lon: Number.NaN }

async function placeOfRecord(tenantResources: TenantResources, record: ResourceRecord): Promise<Point | undefined> {
  return placeOf(await shownAs(tenantResources, record, { denormalized: true }))
}

function placeOf({ location }: ResourceEntity): Point | undefined {
  const { lat, lon } = (location ?? {}) as { readonly lat?: unknown; readonly lon?: unknown }
  return typeof lat === 'number' && typeof lon === 'number' ? { lat, lon } : undefined
}

async function lookedThrough(
  tenantResources: TenantResources,
  where: readonly Condition[],
  listing: Listing,
  isNear: (shown: ResourceEntity) => boolean = () => true,
): Promise<Found> {
  const { sort, skip, limit, check = isNear } = listing
  const byId = isById(listing)
  const page: ResourceRecord[] = []
  const keys: { readonly id: string; readonly key: Key }[] = []
  let total = 0
  for await (const record of recordsOf(tenantResources, where)) {
    const shown = await shownAs(tenantResources, record, { denormalized: true })
    if (!check(shown) || !isNear(shown)) continue
    if (!byId) keys.push({ id: shown.id, key: keyOf(valueAt(shown, sort.path)) })
    else if (total >= skip && page.length < limit) page.push(record)
    total += 1
  }
  if (byId) return { records: page, total }
  keys.sort((a, b) => compareKeys(a.key, b.key, sort.descending) || (a.id < b.id ? -1 : 1))
  const ids = keys.slice(skip, skip + limit).map(({ id }) => id)
  const records =
    ids.length === 0 ? [] : (await tenantResources.collections.resources.getMany(ids)).map(({ value }) => value)
  return { records, total }
}

async function* recordsOf(
  tenantResources: TenantResources,
  where: readonly Condition[],
  limit = SLICE,
): AsyncGenerator<ResourceRecord> {
  for await (const slice of portions(tenantResources.collections.resources, where, limit)) {
    for (const { value } of slice) yield value
    await machineTimers.breathe()
  }
}

async function shownAs(
  tenantResources: TenantResources,
  record: ResourceRecord,
  { denormalized }: Pick<Listing, 'denormalized'>,
): Promise<ResourceEntity> {
  return denormalized
    ? tenantResources.show(record, await tenantResources.typeOf(record))
    : tenantResources.lastSeen.current(record.own)
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
