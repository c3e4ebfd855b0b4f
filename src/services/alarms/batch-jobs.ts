/** Runs bulk operations on alarms as jobs. */
import { itemHandler, type ItemOutcome, type Job, type JobHandler } from '#jobs'
import { AppError } from '#kernel'
import type { AlarmWriter } from './alarm-writer.ts'
import { NO_CAUSE } from './change-alarm.ts'
import type { AlarmChange } from './alarm-schema.ts'

export const BATCH_JOB = 'alarms.batch'

export type BatchAction = { readonly kind: 'delete' } | { readonly kind: 'update'; readonly change: AlarmChange }

export interface BatchData {
  readonly action: BatchAction
  readonly description: string
  readonly missing: readonly string[]
}

const BATCH_SIZE = 200
const SLICE = 50
const ATTEMPTS = 10
const KEPT_MS = 7 * 86_400_000

export function batchHandler(writer: AlarmWriter): JobHandler {
  return itemHandler<string>({
    type: BATCH_JOB,
    isSerial: true,
    attempts: ATTEMPTS,
    keepMs: KEPT_MS,
    batchSize: BATCH_SIZE,
    slice: SLICE,
    item: (id, { job }, isRepeat) => act(writer, job, id, isRepeat),
  })
}

export function batchData({ data }: Job): BatchData {
  return data as BatchData
}

async function act(writer: AlarmWriter, job: Job, id: string, isRepeat: boolean): Promise<ItemOutcome> {
  const { action } = batchData(job)
  try {
    if (action.kind === 'update') {
      await writer.change(id, action.change, { effect: `batch/${job.id}`, causation: NO_CAUSE })
      return { statusCode: 200 }
    }
    await writer.remove(id)
    return { statusCode: 204 }
  } catch (error) {
    // the failure is not due to the alarm, so the job is retried
    if (!(error instanceof AppError) || error.status >= 500) throw error
    if (isRepeat && action.kind === 'delete' && error.code === 'NOT_FOUND') return { statusCode: 204 }
    return { statusCode: error.status, error: error.message }
  }
}
