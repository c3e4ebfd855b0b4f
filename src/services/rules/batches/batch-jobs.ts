/** Operations on many tasks as jobs. */
import { itemHandler, type Job, type JobHandler } from '#jobs'
import type { BatchEntry, BatchOperation, TaskAction } from './batch-schema.ts'
import { act } from './task-action.ts'
import { foreignOf } from '../partitions/rules-partition.ts'
import type { TenantRules } from '../tenant-rules.ts'

export const BATCH_JOB = 'rules.batch'

export interface BatchData {
  readonly operation: BatchOperation
  readonly action: TaskAction
  /** requested tasks that did not exist when it was queued */
  readonly missing: readonly string[]
}

const BATCH_SIZE = 200
/** Tasks between two turns of the event loop. */
const SLICE = 25
const ATTEMPTS = 10
const KEPT_MS = 7 * 86_400_000

/** Its items are ids of tasks, also of other partitions. */
export function batchHandler(rulesOf: () => TenantRules): JobHandler {
  return itemHandler<string>({
    type: BATCH_JOB,
    isSerial: true,
    attempts: ATTEMPTS,
    keepMs: KEPT_MS,
    batchSize: BATCH_SIZE,
    slice: SLICE,
    item: async (id, { job }, isRepeat) => {
      const { action } = batchData(job)
      const rules = rulesOf()
      const { partition } = rules.options
      const at = foreignOf(id, partition)
      if (partition === undefined || at === undefined) return act(rules, id, action, job.id, isRepeat)
      const question = { ask: 'act', id, action, batch: job.id, isRepeat } as const
      return (await partition.ask(at, question)) as BatchEntry
    },
  })
}

export function batchData({ data }: Job): BatchData {
  return data as BatchData
}
