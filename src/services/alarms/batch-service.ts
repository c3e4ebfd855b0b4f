/** Queues bulk operations on alarms, and reports their status. */
import { itemHandler, type ItemOutcome, type Job, type JobHandler, type JobQueue } from '#jobs'
import { AppError, type Caller } from '#kernel'
import { machineTimers } from '#platform'
import { itemResults } from '#services/shared'
import { type Condition, portionsOfIds } from '#storage'
import { AlarmBatch, type AlarmChange, type QueuedAlarmBatch } from './alarm-schema.ts'
import { type AlarmWriter, noAlarm } from './alarm-writer.ts'
import { NO_CAUSE } from './change-alarm.ts'
import type { AlarmCollections } from './collections.ts'
import type { AlarmsApi } from './contract.ts'
import { conditions } from './read-query.ts'
import { HOST_ITSELF } from './words.ts'

const IDS_AT_ONCE = 10_000
const NAMED_AT_ONCE = 500

export interface BatchDependencies {
  readonly queue: JobQueue
  readonly newId: () => string
  readonly collections: AlarmCollections
}

export function batchApi({ queue, newId, collections }: BatchDependencies, { user }: Caller): AlarmsApi['batches'] {
  return {
    queue: async (body) => {
      const batch = AlarmBatch.read(body)
      const action = actionOf(batch)
      const { ids, missing } = await selected(collections, batch.query)
      const description = `${DOING[action.kind]} ${ids.length + missing.length} alarms`
      const data: BatchData = { action, description, missing }
      return headOf(await queue.add({ type: BATCH_JOB, id: newId(), user, data, items: ids }))
    },
    get: async (id) => {
      const job = await queue.get(id)
      if (job?.type !== BATCH_JOB) throw new AppError('NOT_FOUND', `Operation with id '${id.slice(0, 100)}' not found`)
      return statusOf(job, queue)
    },
  }
}

const DOING = { delete: 'deleting', update: 'updating' } as const

function actionOf({ action, actionParameters = {} }: AlarmBatch): BatchAction {
  return action === 'delete' ? { kind: 'delete' } : { kind: 'update', change: actionParameters }
}

function headOf(job: Job): QueuedAlarmBatch {
  const { id, queueTime } = job
  const { action } = batchData(job)
  return { id, queueTime: new Date(queueTime).toISOString(), operation: { entity: 'alarm', action: action.kind } }
}

async function selected(
  collections: AlarmCollections,
  { ids: named, ...filters }: AlarmBatch['query'],
): Promise<{ readonly ids: readonly string[]; readonly missing: readonly string[] }> {
  if (named === undefined) return { ids: await allIds(collections, conditions(filters)), missing: [] }
  const requested = [...new Set(typeof named === 'string' ? [named] : named)]
  const ids: string[] = []
  const missing: string[] = []
  for (let from = 0; from < requested.length; from += NAMED_AT_ONCE) {
    const some = requested.slice(from, from + NAMED_AT_ONCE)
    const there = await collections.alarms.ids({
      where: [{ field: 'id', op: 'in', values: some }],
      limit: NAMED_AT_ONCE,
    })
    const existing = new Set(there)
    for (const id of some) (existing.has(id) ? ids : missing).push(id)
    await machineTimers.breathe()
  }
  return { ids, missing }
}

async function allIds(collections: AlarmCollections, where: readonly Condition[]): Promise<readonly string[]> {
  const found: string[] = []
  for await (const portion of portionsOfIds(collections.alarms, where, IDS_AT_ONCE)) {
    for (const id of portion) found.push(id)
    await machineTimers.breathe()
  }
  return found
}

async function statusOf(job: Job, queue: JobQueue): Promise<Readonly<Record<string, unknown>>> {
  const { id, queueTime, operation } = headOf(job)
  const { description, missing } = batchData(job)
  const { user, finishedTime } = job
  const head = { id, user, operation: { ...operation, description }, queueTime }
  if (finishedTime === undefined) return head
  const absent = missing.map((alarm) => [alarm, { statusCode: 404, error: noAlarm(alarm).message }] as const)
  const results = await itemResults(absent, queue.outcomes(job))
  return { ...head, finishedTime: new Date(finishedTime).toISOString(), results }
}

/** Runs bulk operations on alarms as jobs. */
const BATCH_JOB = 'alarms.batch'

type BatchAction = { readonly kind: 'delete' } | { readonly kind: 'update'; readonly change: AlarmChange }

interface BatchData {
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

function batchData({ data }: Job): BatchData {
  return data as BatchData
}

async function act(writer: AlarmWriter, job: Job, id: string, isRepeat: boolean): Promise<ItemOutcome> {
  const { action } = batchData(job)
  try {
    if (action.kind === 'update') {
      await writer.change(id, action.change, {
        user: job.user ?? HOST_ITSELF,
        effect: `batch/${job.id}`,
        causation: NO_CAUSE,
      })
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
