/** The history of resources and types: one record for each write by somebody, in the same commit (RESOURCE-1). */
import type { Json } from '#kernel'
import type { CollectionSpec } from '#storage'
import type { ChangeRecord, ResourceEntity } from './contract.ts'

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

export function changeRecord(kind: Kind, id: string, record: HistoryRecord): ChangeRecord {
  const { time, userId, change } = record
  const entity = record.entity as ResourceEntity | undefined
  const common = { time: new Date(time).toISOString(), userId, change }
  return kind === 'resource'
    ? { ...common, resourceId: id, ...(entity && { resource: entity }) }
    : { ...common, resourceTypeId: id, ...(entity && { resourceType: entity }) }
}
