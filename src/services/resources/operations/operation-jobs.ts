/** Bulk operations on resources and types as jobs. */
import { itemHandler, type ItemOutcome, type Job, type JobContext, type JobHandler } from '#jobs'
import { AppError, type Caller, issuesText, type JsonObject, type Logger, messageOf } from '#kernel'
import type { ResourcesApi } from '../contract.ts'
import type { Cascade, Operation } from '../resource-schema.ts'

export const OPERATION_JOB = 'resources.operation'

/** What is done to each resource or type of a list. */
export interface OperationData {
  readonly operation: Pick<Operation, 'entity' | 'action'> & { readonly description: string }
  readonly cascade?: readonly Cascade[]
}

/** The id of a resource or type; of `patchOrInsert` the resource itself. */
type Item = string | (JsonObject & { readonly id: string })

type Api = Pick<ResourcesApi, 'resources' | 'types'>

const BATCH_SIZE = 100
/** Resources that are written at a time; deletions go in order, for children go before their parents. */
const SIDE_BY_SIDE = 20
const ATTEMPTS = 10
const KEPT_MS = 7 * 86_400_000
const DONE: ItemOutcome = { statusCode: 204 }

/** `as`: what the caller may do, as over HTTP. */
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

/** Of a job of this type. */
export function operationData({ data }: Job): OperationData {
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
    return { statusCode: 500, error: 'an internal error; the log has it' }
  }
  // no item is to blame: the job tries again
  if (error.status >= 500) throw error
  if (isRepeat && error.code === 'NOT_FOUND' && (await wasDeleted(api, job, id))) return DONE
  // the text of a single request's answer
  return { statusCode: error.status, error: error.issues.length > 0 ? issuesText(error.issues) : error.message }
}

/** Whether this very operation deleted it before the crash: its history says so. */
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
