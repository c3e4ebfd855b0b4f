/** Pages of the history of a resource or type. */
import type { Page } from '#kernel'
import { QueryReader } from '#services/shared'
import type { ChangeRecord, ListQuery } from './contract.ts'
import { changeRecord, historyOf, type Kind } from './history.ts'
import type { TenantResources } from './tenant-resources.ts'

const DEFAULT_CHANGES = 10
const MAX_CHANGES = 1_000

/** Newest first; `skip`, and `limit` of 10 unless said otherwise. */
export async function changesOf(
  tenantResources: TenantResources,
  kind: Kind,
  id: string,
  query: ListQuery,
): Promise<Page<ChangeRecord>> {
  const reader = new QueryReader(query)
  const skip = reader.integer('skip') ?? 0
  const limit = reader.integer('limit', { most: MAX_CHANGES }) ?? DEFAULT_CHANGES
  reader.done()
  const where = [{ field: 'of', op: 'eq', value: historyOf(kind, id) }] as const
  const { history } = tenantResources.collections
  const [found, total] = await Promise.all([
    history.find({ where, sort: [{ field: 'id', descending: true }], offset: skip, limit }),
    history.count(where),
  ])
  return { values: found.map(({ value }) => changeRecord(kind, id, value)), skip, limit, total }
}
