/** Bulk operations as they are asked and shown (part 2, 2.4 and 4.1). */
import type { Caller } from '../../../kernel/caller.ts'
import { AppError } from '../../../kernel/errors.ts'
import type { Books } from '../books.ts'
import type { OperationApi } from '../contract.ts'
import { OPERATIONS, type OperationEntry, type OperationRecord, type WalkOperation } from './operation-record.ts'
import type { OperationWorker } from './operation-worker.ts'
import { describeOperation, readOperation } from './read-operation.ts'

export interface OperationParts {
  readonly worker: OperationWorker
  /** epoch ms */
  readonly now: () => number
  readonly newId: () => string
}

export function operationApi({ worker, now, newId }: OperationParts, books: Books, caller: Caller): OperationApi {
  return {
    queue: async (body) => {
      const read = readOperation(body)
      const { entity, action } = read.what
      const operation = { entity, action, description: describeOperation(read) }
      const head = { id: newId(), user: caller.user, operation, queueTime: now() }
      await worker.queue(books.tenant, { ...head, what: read.what }, read)
      return { ...head, queueTime: isoOf(head.queueTime) }
    },
    get: async (id) => {
      const stored = await books.store.collection(OPERATIONS).get(id)
      if (stored !== undefined) return shown(books.tenant, stored.value, worker)
      const working = await ofType(books, id)
      if (working !== undefined) return working
      throw new AppError('NOT_FOUND', `Operation with id '${id}' not found`)
    },
  }
}

async function shown(tenant: string, record: OperationRecord, worker: OperationWorker) {
  const { id, user, operation, queueTime, finishedTime } = record
  const head = { id, user, operation, queueTime: isoOf(queueTime) }
  if (record.kind === 'walk') {
    const progress = { done: record.done, total: record.total }
    if (finishedTime === undefined) return { ...head, progress }
    return { ...head, finishedTime: isoOf(finishedTime), progress, results: walkResults(record) }
  }
  if (finishedTime === undefined) return head
  const [success, failure] = [emptyEntries(), emptyEntries()]
  for (const [one, entry] of await worker.results(tenant, record)) {
    if (entry.statusCode < 400) success[one] = entry
    else failure[one] = entry
  }
  return { ...head, finishedTime: isoOf(finishedTime), results: { success, failure } }
}

/** By the type, and by each template of which tasks could not be made. */
function walkResults({ type, failed = {} }: WalkOperation) {
  const [success, failure] = [emptyEntries(), emptyEntries()]
  success[type] = { statusCode: 204 }
  for (const [template, { error, count }] of Object.entries(failed)) {
    failure[template] = { statusCode: 400, error: `${error} (${count} ${count === 1 ? 'resource' : 'resources'})` }
  }
  return { success, failure }
}

/** The work that a type itself names while it lasts. */
async function ofType(books: Books, id: string) {
  const [found] = await books.types.find({ where: [{ field: 'operation', op: 'eq', value: id }], limit: 1 })
  if (found === undefined) return undefined
  const description = `updating resources of type ${found.id}`
  return { id, operation: { entity: 'resourcetype', action: 'update', description } }
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString()
}

/** Ids are text from outside: no prototype. */
function emptyEntries(): Record<string, OperationEntry> {
  return Object.create(null) as Record<string, OperationEntry>
}
