/** The history of resources and types: one record for each write by somebody, in the same commit (T1). */
import type { Json } from '../../kernel/json.ts'
import type { CollectionSpec } from '../../storage/contract.ts'
import type { ChangeRecord, ResourceEntity } from './contract.ts'

export type Kind = 'resource' | 'resourcetype'

export interface HistoryRecord {
  /** kind and id */
  readonly of: string
  /** rises with each record of one `of` */
  readonly order: number
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
    order: { type: 'number', of: ({ order }) => order },
  },
}

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
