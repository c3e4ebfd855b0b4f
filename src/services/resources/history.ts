/** History of resources and types: one record per write of a user, in the same commit (RESOURCE-1). */
import type { Json, Page } from '#kernel'
import type { Collection, CollectionSpec } from '#storage'
import type { ChangeRecord, ListQuery, ResourceEntity } from './contract.ts'
import { pageOf } from './list/list-documents.ts'
import { pagingOf } from './list/read-listing.ts'

export type Kind = 'resource' | 'resourcetype'

export interface HistoryRecord {
  readonly of: string
  readonly time: number
  readonly userId: string
  readonly change: ChangeRecord['change']
  /** Stored attributes; the last ones after a deletion */
  readonly entity?: Readonly<Record<string, Json>>
}

export const HISTORY: CollectionSpec<HistoryRecord> = {
  name: 'resource_history',
  version: 1,
  fields: {
    of: { type: 'text', of: (record) => record.of },
  },
}

/** Ids ascend in the order of writes, so that neighbours are stored together. */
export function recordId(order: number, unique: string): string {
  return `${String(order).padStart(ORDER_DIGITS, '0')}-${unique.slice(0, UNIQUE_CHARACTERS)}`
}

/** Microseconds since 1970, for some thousand years */
const ORDER_DIGITS = 17
/** distinguishes writes of two hosts in the same microsecond */
const UNIQUE_CHARACTERS = 8

export function historyOf(kind: Kind, id: string): string {
  return `${kind}/${id}`
}

/** Newest first, with `skip`, and `limit` of 10 by default. */
export function changesOf(
  history: Collection<HistoryRecord>,
  kind: Kind,
  id: string,
  query: ListQuery,
): Promise<Page<ChangeRecord>> {
  const paging = { ...pagingOf(query, DEFAULT_CHANGES), sort: [{ field: 'id', descending: true }] }
  const where = [{ field: 'of', op: 'eq', value: historyOf(kind, id) }] as const
  return pageOf(history, where, paging, (record) => changeRecord(kind, id, record))
}

const DEFAULT_CHANGES = 10

function changeRecord(kind: Kind, id: string, record: HistoryRecord): ChangeRecord {
  const { time, userId, change } = record
  const entity = record.entity as ResourceEntity | undefined
  const common = { time: new Date(time).toISOString(), userId, change }
  return kind === 'resource'
    ? { ...common, resourceId: id, ...(entity && { resource: entity }) }
    : { ...common, resourceTypeId: id, ...(entity && { resourceType: entity }) }
}
