/** Lists the resources that match a query, filtering and ordering in the store where possible. */
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

export async function listResources(
  tenantResources: TenantResources,
  query: ListQuery,
  among: readonly Condition[] = [],
): Promise<Page<ResourceEntity>> {
  const read = readListing(query)
  const listing = { ...read, where: [...among, ...read.where] }
  const { skip, limit, fields, denormalized } = listing
  const search = new Search(tenantResources, listing)
  const { records, total } = await search.found()
  const values: ResourceEntity[] = []
  for (const record of records) {
    const shown = denormalized ? await search.shown(record) : tenantResources.lastSeen.current(record.own)
    values.push(project(shown, fields))
  }
  return { values, skip, limit, total }
}

interface Found {
  readonly records: readonly ResourceRecord[]
  readonly total: number
}

type Key = string | number | undefined

const SLICE = 500
const NOWHERE: Point = { lat: Number.NaN, lon: Number.NaN }

class Search {
  readonly #tenantResources: TenantResources
  readonly #listing: Listing
  readonly #isById: boolean

  constructor(tenantResources: TenantResources, listing: Listing) {
    this.#tenantResources = tenantResources
    this.#listing = listing
    this.#isById = listing.sort.path === 'id' && !listing.sort.descending
  }

  found(): Promise<Found> {
    const { circle, check, sort, where } = this.#listing
    if (circle === undefined) return check === undefined && sort.isField ? this.#page() : this.#scanned(where)
    const cut = check === undefined && this.#isById ? cutCircle(circle) : undefined
    if (cut !== undefined) return this.#counted(circle, cut)
    return this.#scanned([...where, aroundCircle(circle)], (shown) => isWithin(circle, locationOf(shown)))
  }

  async shown(record: ResourceRecord): Promise<ResourceEntity> {
    return this.#tenantResources.show(record, await this.#tenantResources.typeOf(record))
  }

  async #page(): Promise<Found> {
    const { sort, skip, limit, where } = this.#listing
    const order = this.#isById ? {} : { sort: [{ field: sort.path, descending: sort.descending }] }
    const { resources } = this.#tenantResources.collections
    const { values, total } = await pageOf(resources, where, { skip, limit, ...order }, (record) => record)
    return { records: values, total }
  }

  /** In the order of ids, so that a page is complete before all places are measured. */
  async #counted(circle: Circle, cut: CutCircle): Promise<Found> {
    const where = [...this.#listing.where, cut.around]
    const { resources } = this.#tenantResources.collections
    const [records, certain, measured] = await Promise.all([
      this.#firstWithin(where, circle),
      cut.inside === undefined ? 0 : resources.count([...where, cut.inside]),
      this.#countEdge([...where, cut.edge], circle, cut),
    ])
    return { records, total: certain + measured }
  }

  async #firstWithin(where: readonly Condition[], circle: Circle): Promise<readonly ResourceRecord[]> {
    const { skip, limit } = this.#listing
    const page: ResourceRecord[] = []
    if (limit === 0) return page
    let passed = 0
    // the box is only slightly larger than the circle
    const slice = Math.min(SLICE, Math.ceil((skip + limit) * 1.5))
    for await (const record of this.#recordsOf(where, slice)) {
      if (!isWithin(circle, locationOf(await this.shown(record)))) continue
      if (passed >= skip) page.push(record)
      passed += 1
      if (page.length === limit) break
    }
    return page
  }

  async #countEdge(where: readonly Condition[], circle: Circle, cut: CutCircle): Promise<number> {
    let count = 0
    for await (const record of this.#recordsOf(where)) {
      const location = locationOf(await this.shown(record))
      if (!cut.isInside(location) && isWithin(circle, location)) count += 1
    }
    return count
  }

  async #scanned(where: readonly Condition[], isNear: (shown: ResourceEntity) => boolean = () => true): Promise<Found> {
    const { sort, skip, limit, check = isNear } = this.#listing
    const page: ResourceRecord[] = []
    const keys: { readonly id: string; readonly key: Key }[] = []
    let total = 0
    for await (const record of this.#recordsOf(where)) {
      const shown = await this.shown(record)
      if (!check(shown) || !isNear(shown)) continue
      if (!this.#isById) keys.push({ id: shown.id, key: keyOf(valueAt(shown, sort.path)) })
      else if (total >= skip && page.length < limit) page.push(record)
      total += 1
    }
    if (this.#isById) return { records: page, total }
    keys.sort((a, b) => compareKeys(a.key, b.key, sort.descending) || (a.id < b.id ? -1 : 1))
    const ids = keys.slice(skip, skip + limit).map(({ id }) => id)
    const found = ids.length === 0 ? [] : await this.#tenantResources.collections.resources.getMany(ids)
    return { records: found.map(({ value }) => value), total }
  }

  async *#recordsOf(where: readonly Condition[], limit = SLICE): AsyncGenerator<ResourceRecord> {
    for await (const slice of portions(this.#tenantResources.collections.resources, where, limit)) {
      for (const { value } of slice) yield value
      await machineTimers.breathe()
    }
  }
}

function locationOf({ location }: ResourceEntity): Point {
  const { lat, lon } = (location ?? {}) as { readonly lat?: unknown; readonly lon?: unknown }
  return typeof lat === 'number' && typeof lon === 'number' ? { lat, lon } : NOWHERE
}

function keyOf(value: unknown): Key {
  if (typeof value === 'boolean') return String(value)
  return typeof value === 'string' || typeof value === 'number' ? value : undefined
}

/** Orders numbers before texts. Missing values come last in both directions. */
function compareKeys(a: Key, b: Key, descending: boolean): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? 1 : -1
  const order = typeof a === typeof b ? (a < b ? -1 : a > b ? 1 : 0) : typeof a === 'number' ? -1 : 1
  return descending ? -order : order
}
