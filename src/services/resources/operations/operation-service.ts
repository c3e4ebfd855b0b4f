/** Bulk operations as they are asked and shown. */
import type { Job, JobQueue } from '#jobs'
import { AppError, type Caller } from '#kernel'
import { type ItemResult, itemResults } from '#services/shared'
import type { TenantCollections } from '../collections.ts'
import type { OperationApi } from '../contract.ts'
import { Operation } from '../resource-schema.ts'
import { OPERATION_JOB, operationData, type OperationData } from './operation-jobs.ts'
import { OPERATIONS, type WalkOperation } from './operation-record.ts'

const KEPT_MS = 7 * 86_400_000

export interface OperationDependencies {
  readonly queue: JobQueue
  /** epoch ms */
  readonly now: () => number
  readonly newId: () => string
}

export function operationApi(
  { queue, now, newId }: OperationDependencies,
  collections: TenantCollections,
  caller: Caller,
): OperationApi {
  return {
    queue: async (body) => {
      const { entity, action, query, actionParameters = {} } = Operation.read(body)
      const items = query.resources ?? [...new Set(query.ids)]
      const noun = entity === 'resource' ? 'resource' : 'resource type'
      const verb = action === 'delete' ? 'deleting' : 'updating or inserting'
      const description = `${verb} ${items.length} ${noun}${items.length === 1 ? '' : 's'}`
      const operation = { entity, action, description }
      await removeOldWalks(collections, now())
      const { cascade } = actionParameters
      const data: OperationData = { operation, ...(cascade && { cascade }) }
      const [id, { user }] = [newId(), caller]
      const { queueTime } = await queue.add({ type: OPERATION_JOB, id, user, data, items })
      return { id, user, operation, queueTime: isoOf(queueTime) }
    },
    get: async (id) => {
      const job = await queue.get(id)
      if (job?.type === OPERATION_JOB) return shownJob(job, queue)
      const stored = await collections.store.collection(OPERATIONS).get(id)
      if (stored !== undefined) return shownWalk(stored.value)
      const working = await ofType(collections, id)
      if (working !== undefined) return working
      throw new AppError('NOT_FOUND', `Operation with id '${id}' not found`)
    },
  }
}

async function shownJob(job: Job, queue: JobQueue) {
  const { id, user, queueTime, finishedTime } = job
  const head = { id, user, operation: operationData(job).operation, queueTime: isoOf(queueTime) }
  if (finishedTime === undefined) return head
  return { ...head, finishedTime: isoOf(finishedTime), results: await itemResults(queue.outcomes(job)) }
}

async function shownWalk(walk: WalkOperation) {
  const { id, user, operation, queueTime, finishedTime, done, total } = walk
  const head = { id, user, operation, queueTime: isoOf(queueTime) }
  const progress = { done, total }
  if (finishedTime === undefined) return { ...head, progress }
  return { ...head, finishedTime: isoOf(finishedTime), progress, results: await itemResults(walkResults(walk)) }
}

/** By the type, and by each template of which tasks could not be made. */
function* walkResults({ type, failed = {} }: WalkOperation): Generator<readonly [string, ItemResult]> {
  yield [type, { statusCode: 204 }]
  for (const [template, { error, count }] of Object.entries(failed)) {
    yield [template, { statusCode: 400, error: `${error} (${count} ${count === 1 ? 'resource' : 'resources'})` }]
  }
}

/** Jobs are let go by their runner. */
async function removeOldWalks({ store }: TenantCollections, now: number): Promise<void> {
  const operations = store.collection(OPERATIONS)
  const where = [{ field: 'finishedTime', op: 'lt', value: now - KEPT_MS }] as const
  const old = await operations.ids({ where, limit: 10 })
  await Promise.all(old.map((id) => operations.delete(id)))
}

/** The work that a type itself names while it lasts. */
async function ofType(collections: TenantCollections, id: string) {
  const [found] = await collections.types.find({ where: [{ field: 'operation', op: 'eq', value: id }], limit: 1 })
  if (found === undefined) return undefined
  const description = `updating resources of type ${found.id}`
  return { id, operation: { entity: 'resourcetype', action: 'update', description } }
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString()
}
