/** Runs bulk operations on resources and types as jobs. */
import { itemHandler, type ItemOutcome, type Job, type JobContext, type JobHandler, type JobQueue } from '#jobs'
import { AppError, type Caller, issuesText, type JsonObject, type Logger, messageOf } from '#kernel'
import { type ItemResult, itemResults } from '#services/shared'
import type { ResourceCollections } from './collections.ts'
import type { OperationApi, ResourcesApi } from './contract.ts'
import { OPERATIONS, type WalkOperation } from './managed-tasks/type-walks.ts'
import { type Cascade, Operation } from './resource-schema.ts'

const OPERATION_JOB = 'resources.operation'

interface OperationData {
  readonly operation: Pick<Operation, 'entity' | 'action'> & { readonly description: string }
  readonly cascade?: readonly Cascade[]
}

/** The id of a resource or type; for `patchOrInsert`, the resource itself. */
type Item = string | (JsonObject & { readonly id: string })

type Api = Pick<ResourcesApi, 'resources' | 'types'>

const BATCH_SIZE = 100
/** Number of parallel writes of resources. Deletions run one by one, children before parents. */
const SIDE_BY_SIDE = 20
const ATTEMPTS = 10
const KEPT_MS = 7 * 86_400_000
const DONE: ItemOutcome = { statusCode: 204 }

export function operationHandler(as: (caller: Caller) => Api, logger: Logger | undefined): JobHandler {
  return itemHandler<Item>({
    type: OPERATION_JOB,
    isSerial: true,
    attempts: ATTEMPTS,
    keepMs: KEPT_MS,
    batchSize: BATCH_SIZE,
    slice: (job) => (operationData(job).operation.action === 'patchOrInsert' ? SIDE_BY_SIDE : 1),
    keyOf: idOf,
    item: async (item, context, isRepeat) => {
      const { tenant, job } = context
      const api = as({ tenant, user: job.user ?? '' })
      try {
        await act(api, operationData(job), item)
        return DONE
      } catch (error) {
        return failed(api, context, item, isRepeat, error, logger)
      }
    },
  })
}

function operationData({ data }: Job): OperationData {
  return data as OperationData
}

async function act(api: Api, { operation, cascade = [] }: OperationData, item: Item): Promise<void> {
  const id = idOf(item)
  if (operation.action === 'patchOrInsert') await api.resources.patch(id, item)
  else if (operation.entity === 'resourcetype') await api.types.remove(id)
  else await api.resources.remove(id, { cascade })
}

async function failed(
  api: Api,
  { job }: JobContext,
  item: Item,
  isRepeat: boolean,
  error: unknown,
  logger: Logger | undefined,
): Promise<ItemOutcome> {
  const id = idOf(item)
  if (!(error instanceof AppError)) {
    logger?.error(`bulk operation ${job.id}, ${operationData(job).operation.entity} ${id}: ${messageOf(error)}`)
    return { statusCode: 500, error: 'an internal error; see the log of the host' }
  }
  // the failure is not due to the item, so the job is retried
  if (error.status >= 500) throw error
  if (isRepeat && error.code === 'NOT_FOUND' && (await wasDeleted(api, job, id))) return DONE
  // the same text as in the response to a single request
  return { statusCode: error.status, error: error.issues.length > 0 ? issuesText(error.issues) : error.message }
}

async function wasDeleted(api: Api, job: Job, id: string): Promise<boolean> {
  const changes = operationData(job).operation.entity === 'resource' ? api.resources : api.types
  try {
    const [last] = (await changes.changes(id, { limit: 1 })).values
    return last?.change === 'deleted' && last.userId === job.user && Date.parse(last.time) >= job.queueTime
  } catch (error) {
    if (error instanceof AppError && error.code === 'NOT_FOUND') return false
    throw error
  }
}

function idOf(item: Item): string {
  return typeof item === 'string' ? item : item.id
}

export interface OperationDependencies {
  readonly queue: JobQueue
  readonly now: () => number
  readonly newId: () => string
}

export function operationApi(
  { queue, now, newId }: OperationDependencies,
  collections: ResourceCollections,
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

function* walkResults({ type, failed = {} }: WalkOperation): Generator<readonly [string, ItemResult]> {
  yield [type, { statusCode: 204 }]
  for (const [template, { error, count }] of Object.entries(failed)) {
    yield [template, { statusCode: 400, error: `${error} (${count} ${count === 1 ? 'resource' : 'resources'})` }]
  }
}

async function removeOldWalks({ store }: ResourceCollections, now: number): Promise<void> {
  const operations = store.collection(OPERATIONS)
  const where = [{ field: 'finishedTime', op: 'lt', value: now - KEPT_MS }] as const
  const old = await operations.ids({ where, limit: 10 })
  await Promise.all(old.map((id) => operations.delete(id)))
}

async function ofType(collections: ResourceCollections, id: string) {
  const [found] = await collections.types.find({ where: [{ field: 'operation', op: 'eq', value: id }], limit: 1 })
  if (found === undefined) return undefined
  const description = `updating resources of type ${found.id}`
  return { id, operation: { entity: 'resourcetype', action: 'update', description } }
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString()
}
