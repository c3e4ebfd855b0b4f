/** A batch operation as it is stored: its head, and its tasks in parts that are finished one after the other. */
import type { CollectionSpec } from '../../storage/contract.ts'
import type { BatchEntry, BatchOperation, TaskAction } from './batch-schema.ts'

/** Times are epoch ms. */
export interface BatchRecord {
  readonly id: string
  readonly user: string
  readonly operation: BatchOperation
  readonly action: TaskAction
  readonly queueTime: number
  readonly finishedTime?: number
  /** how many parts there are */
  readonly parts: number
  /** how many parts are done */
  readonly done: number
  /** tasks that were asked for and did not exist when it was queued */
  readonly missing: readonly string[]
}

export const BATCHES: CollectionSpec<BatchRecord> = {
  name: 'batches',
  version: 1,
  fields: {
    state: { type: 'text', of: (batch) => (batch.finishedTime === undefined ? 'open' : 'finished') },
    queueTime: { type: 'number', of: (batch) => batch.queueTime },
    finishedTime: { type: 'number', of: (batch) => batch.finishedTime },
  },
}

/** Ids of tasks, and what became of them once the part is done. Its own id is the batch's and its number. */
export interface BatchPart {
  readonly ids: readonly string[]
  /** in the order of `ids` */
  readonly results?: readonly BatchEntry[]
}

export const BATCH_PARTS: CollectionSpec<BatchPart> = { name: 'batch_parts', version: 1, fields: {} }

export const PART_SIZE = 200

export function partId(batch: string, number: number): string {
  return `${batch}/${number}`
}
