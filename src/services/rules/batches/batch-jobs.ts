/** Operations on many tasks as jobs. */
import { itemHandler, type Job, type JobHandler } from '#jobs'
import type { BatchOperation, TaskAction } from './batch-schema.ts'
import type { TenantCollections } from '../collections.ts'
import { act } from './task-action.ts'
import { actElsewhere, foreignOf, type RulesPartition } from '../partitions/rules-partition.ts'
import type { TaskChanges } from '../tasks/task-changes.ts'

export const BATCH_JOB = 'rules.batch'

export interface BatchData {
  readonly operation: BatchOperation
  readonly action: TaskAction
  /** tasks that were asked for and did not exist when it was queued */
  readonly missing: readonly string[]
}

const BATCH_SIZE = 200
/** Tasks between two breaths of the loop. */
const SLICE = 25
const ATTEMPTS = 10
const KEPT_MS = 7 * 86_400_000

/** Its items are ids of tasks. `partition`: those of others are changed there. */
export function batchHandler(
  changes: (tenant: string) => TaskChanges,
  collections: (tenant: string) => TenantCollections,
  partition?: RulesPartition,
): JobHandler {
  return itemHandler<string>({
    type: BATCH_JOB,
    isSerial: true,
    attempts: ATTEMPTS,
    keepMs: KEPT_MS,
    batchSize: BATCH_SIZE,
    slice: SLICE,
    item: (id, { tenant, job }, isRepeat) => {
      const { action } = batchData(job)
      const elsewhere = partition && foreignOf(id, partition)
      if (partition === undefined || elsewhere === undefined)
        return act(changes(tenant), collections(tenant), id, action, job.id, isRepeat)
      return actElsewhere(tenant, elsewhere, { id, action, batch: job.id, isRepeat }, partition)
    },
  })
}

/** Of a job of this type. */
export function batchData({ data }: Job): BatchData {
  return data as BatchData
}
