/** The history of resources and types: one record per write by a user, in the same commit (RESOURCE-1). */
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
  /** stored attributes; after a deletion, the attributes before it */
  readonly entity?: Readonly<Record<string, Json>>
}

export const HISTORY: CollectionSpec<HistoryRecord> = {
  name: 'resource_history',
  version: 1,
  fields: {
    of: { type: 'text', of: (record) => record.of },
  },
}

/** Makes an id. Ids ascend in the order of writes, so that neighbouring records are stored together. */
export function recordId(order: number, unique: string): string {
  return `${String(order).padStart(ORDER_DIGITS, '0')}-${unique.slice(0, UNIQUE_CHARACTERS)}`
}

/** Digits for microseconds since 1970, enough for about 3,000 years. */
const ORDER_DIGITS = 17
/** distinguishes two hosts that write in the same microsecond */
const UNIQUE_CHARACTERS = 8

export function historyOf(kind: Kind, id: string): string {
  return `${kind}/${id}`
}

/** Returns changes newest first, with `skip`, and `limit` (default 10). */
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
