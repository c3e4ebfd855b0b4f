/** Pages through collections, and lists types and constraints in memory, since they are few. */
import type { Page } from '#kernel'
import { type Collection, type Condition, type Query, walk } from '#storage'
import type { ResourceEntity } from '../contract.ts'
import { project } from './project.ts'
import type { Paging, Search } from './read-listing.ts'

export async function pageOf<D extends object, T>(
  collection: Collection<D>,
  where: readonly Condition[],
  { skip, limit, ...options }: Paging & Pick<Query, 'sort'>,
  show: (record: D) => T,
): Promise<Page<T>> {
  const [found, total] = await Promise.all([
    limit === 0 ? [] : collection.find({ where, ...options, offset: skip, limit }),
    collection.count(where),
  ])
  return { values: found.map(({ value }) => show(value)), skip, limit, total }
}

export async function listDocuments<D extends object>(
  collection: Collection<D>,
  { where, check, skip, limit, fields }: Search,
  show: (record: D) => ResourceEntity,
): Promise<Page<ResourceEntity>> {
  if (check === undefined) return pageOf(collection, where, { skip, limit }, (record) => project(show(record), fields))
  const values: ResourceEntity[] = []
  let total = 0
  for await (const { value } of walk(collection, where)) {
    const entity = show(value)
    if (!check(entity)) continue
    if (total >= skip && values.length < limit) values.push(project(entity, fields))
    total += 1
  }
  return { values, skip, limit, total }
}
