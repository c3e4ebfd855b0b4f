/** A batch operation as it is stored: its head, and its alarms in parts that are finished one after the other. */
import type { CollectionSpec } from '../../storage/contract.ts'
import type { AlarmChange } from './read-change.ts'

/** Times are epoch ms. */
export interface BatchRecord {
  readonly id: string
  readonly user: string
  /** what is done to each alarm */
  readonly action: BatchAction
  /** for people */
  readonly description: string
  readonly queueTime: number
  readonly finishedTime?: number
  readonly parts: number
  /** how many parts are done */
  readonly done: number
  /** ids that were asked for and did not exist when it was queued */
  readonly missing: readonly string[]
}

export type BatchAction = { readonly kind: 'delete' } | { readonly kind: 'update'; readonly change: AlarmChange }

export const BATCHES: CollectionSpec<BatchRecord> = {
  name: 'alarm_batches',
  version: 1,
  fields: {
    state: { type: 'text', of: ({ finishedTime }) => (finishedTime === undefined ? 'open' : 'finished') },
    queueTime: { type: 'number', of: ({ queueTime }) => queueTime },
    finishedTime: { type: 'number', of: ({ finishedTime }) => finishedTime },
  },
}

/** Ids of alarms, and what became of them once the part is done. */
export interface BatchPart {
  readonly ids: readonly string[]
  /** in the order of `ids` */
  readonly results?: readonly BatchEntry[]
}

export interface BatchEntry {
  readonly statusCode: number
  readonly error?: string
}

export const BATCH_PARTS: CollectionSpec<BatchPart> = { name: 'alarm_batch_parts', version: 1, fields: {} }

export const PART_SIZE = 200

export function partId(batch: string, number: number): string {
  return `${batch}/${number}`
}
