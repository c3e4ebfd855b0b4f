/** Listings of types and of constraints: few enough to be looked through for what the store cannot find out. */
import type { Page } from '#kernel'
import { type Collection, type Condition, walk } from '#storage'
import { QueryReader } from '#services/shared'
import type { ConstraintRecord } from '../constraint-record.ts'
import type { ListQuery, ResourceEntity } from '../contract.ts'
import type { TenantResources } from '../tenant-resources.ts'
import type { TypeRecord } from '../type-record.ts'
import { fieldsOf, project } from './project.ts'
import type { KnownFields } from './query-conditions.ts'
import { filterConditions, idConditions, readPaging, readQuery, type Paging } from './read-listing.ts'

const TYPE_FIELDS: KnownFields = {
  texts: new Set(['id', 'name', 'provider', 'providerId', 'customer']),
  numbers: new Set(),
  lists: new Set(),
}
const CONSTRAINT_FIELDS: KnownFields = { texts: new Set(['id']), numbers: new Set(), lists: new Set(['tags']) }

/** Throws `VALIDATION`. */
export async function listTypes(
  tenantResources: TenantResources,
  query: ListQuery,
  show: (record: TypeRecord) => ResourceEntity,
): Promise<Page<ResourceEntity>> {
  const reader = new QueryReader(query)
  const paging = readPaging(reader)
  const templates = reader.texts('template').filter((name) => name !== '')
  const asked = readQuery(reader, TYPE_FIELDS)
  const where: readonly Condition[] = [
    ...filterConditions(reader),
    ...idConditions(reader),
    ...templates.map((value): Condition => ({ field: 'templates', op: 'eq', value })),
    ...asked.where,
  ]
  const fields = fieldsOf(query)
  reader.done()
  const page = await pageOf(tenantResources.collections.types, where, paging, show, asked.check)
  return { ...page, values: page.values.map((entity) => project(entity, fields)) }
}

/** Throws `VALIDATION`. */
export async function listConstraints(
  tenantResources: TenantResources,
  query: ListQuery,
  show: (record: ConstraintRecord) => ResourceEntity,
): Promise<Page<ResourceEntity>> {
  const reader = new QueryReader(query)
  const paging = readPaging(reader)
  const asked = readQuery(reader, CONSTRAINT_FIELDS)
  const where = [...filterConditions(reader), ...asked.where]
  reader.done()
  return pageOf(tenantResources.collections.constraints, where, paging, show, asked.check)
}

async function pageOf<D extends object>(
  collection: Collection<D>,
  where: readonly Condition[],
  { skip, limit }: Paging,
  show: (record: D) => ResourceEntity,
  check: ((entity: object) => boolean) | undefined,
): Promise<Page<ResourceEntity>> {
  if (check === undefined) {
    const [found, total] = await Promise.all([
      limit === 0 ? [] : collection.find({ where, offset: skip, limit }),
      collection.count(where),
    ])
    return { values: found.map(({ value }) => show(value)), skip, limit, total }
  }
  const values: ResourceEntity[] = []
  let total = 0
  for await (const { value } of walk(collection, where)) {
    const entity = show(value)
    if (!check(entity)) continue
    if (total >= skip && values.length < limit) values.push(entity)
    total += 1
  }
  return { values, skip, limit, total }
}
