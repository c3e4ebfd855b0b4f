/** The history of resources and types: one record for each write by somebody, in the same commit (RESOURCE-1). */
import type { Json, Page } from '#kernel'
import type { Collection, CollectionSpec } from '#storage'
import type { ChangeRecord, ListQuery, ResourceEntity } from './contract.ts'
import { pageOf } from './list/list-documents.ts'
import { pagingOf } from './list/read-listing.ts'

export type Kind = 'resource' | 'resourcetype'

export interface HistoryRecord {
  /** kind and id */
  readonly of: string
  /** epoch ms */
  readonly time: number
  readonly userId: string
  readonly change: ChangeRecord['change']
  /** as it was stored; of a deletion the last */
  readonly entity?: Readonly<Record<string, Json>>
}

export const HISTORY: CollectionSpec<HistoryRecord> = {
  name: 'resource_history',
  version: 1,
  fields: {
    of: { type: 'text', of: (record) => record.of },
  },
}

/** Ids of records in their order, so that they are written and read side by side. */
export function recordId(order: number, unique: string): string {
  return `${String(order).padStart(ORDER_DIGITS, '0')}-${unique.slice(0, UNIQUE_CHARACTERS)}`
}

/** of microseconds since 1970, for some thousand years */
const ORDER_DIGITS = 17
/** two hosts may write in the same microsecond */
const UNIQUE_CHARACTERS = 8

export function historyOf(kind: Kind, id: string): string {
  return `${kind}/${id}`
}

/** Newest first; `skip`, and `limit` of 10 unless said otherwise. */
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
