/** Operations on many alarms: queued, and followed by their status (part 2, 2.4 and 4.5). */
import { setImmediate } from 'node:timers/promises'
import { AppError } from '../../kernel/errors.ts'
import type { Caller } from '../../kernel/caller.ts'
import { noAlarm } from './alarm-desk.ts'
import type { BatchEntry, BatchRecord } from './batch-record.ts'
import type { BatchWorker } from './batch-worker.ts'
import type { Books } from './books.ts'
import type { AlarmsApi, QueuedAlarmBatch } from './contract.ts'
import type { Office } from './office.ts'
import { readBatch, type ReadBatch } from './read-batch.ts'

const IDS_AT_ONCE = 10_000
const NAMED_AT_ONCE = 500

export interface BatchParts {
  readonly worker: BatchWorker
  readonly now: () => number
  readonly newId: () => string
  readonly office: () => Promise<Office>
}

export function batchApi({ worker, now, newId, office }: BatchParts, caller: Caller): AlarmsApi['batches'] {
  return {
    queue: async (body) => {
      const read = readBatch(body)
      const opened = await office()
      const { ids, missing } = await selected(opened.books, read.select)
      const description = `${DOING[read.action.kind]} ${ids.length + missing.length} alarms`
      const batch = { id: newId(), user: caller.user, action: read.action, description, queueTime: now(), missing }
      await worker.queue(opened, batch, ids)
      return headOf(batch)
    },
    get: async (id) => {
      const opened = await office()
      const stored = await opened.books.batches.get(id)
      if (stored === undefined) throw new AppError('NOT_FOUND', `Operation with id '${id.slice(0, 100)}' not found`)
      return statusOf(opened, stored.value, worker)
    },
  }
}

const DOING = { delete: 'deleting', update: 'updating' } as const

function headOf({ id, queueTime, action }: Pick<BatchRecord, 'id' | 'queueTime' | 'action'>): QueuedAlarmBatch {
  return { id, queueTime: new Date(queueTime).toISOString(), operation: { entity: 'alarm', action: action.kind } }
}

/** The alarms as they are when the operation is queued; of ids that are asked for, those that do not exist. */
async function selected(
  books: Books,
  select: ReadBatch['select'],
): Promise<{ readonly ids: readonly string[]; readonly missing: readonly string[] }> {
  if ('where' in select) return { ids: await allIds(books, select.where), missing: [] }
  const ids: string[] = []
  const missing: string[] = []
  for (let from = 0; from < select.ids.length; from += NAMED_AT_ONCE) {
    const some = select.ids.slice(from, from + NAMED_AT_ONCE)
    const there = await books.alarms.ids({
      where: [{ field: 'id', op: 'in', values: some }],
      limit: NAMED_AT_ONCE,
    })
    const existing = new Set(there)
    for (const id of some) (existing.has(id) ? ids : missing).push(id)
    await setImmediate()
  }
  return { ids, missing }
}

async function allIds(
  books: Books,
  where: Extract<ReadBatch['select'], { where: unknown }>['where'],
): Promise<readonly string[]> {
  const found: string[] = []
  for (let afterId: string | undefined; ;) {
    const portion = await books.alarms.ids({ where, limit: IDS_AT_ONCE, ...(afterId !== undefined && { afterId }) })
    for (const id of portion) found.push(id)
    afterId = portion.at(-1)
    if (portion.length < IDS_AT_ONCE || afterId === undefined) return found
    await setImmediate()
  }
}

async function statusOf(
  office: Office,
  batch: BatchRecord,
  worker: BatchWorker,
): Promise<Readonly<Record<string, unknown>>> {
  const { id, queueTime, operation } = headOf(batch)
  const { user, description, finishedTime, missing } = batch
  const head = { id, user, operation: { ...operation, description }, queueTime }
  if (finishedTime === undefined) return head
  const success = emptyEntries()
  const failure = emptyEntries()
  for (const absent of missing) failure[absent] = { statusCode: 404, error: noAlarm(absent).message }
  for (const [alarm, entry] of await worker.results(office, batch)) {
    if (entry.statusCode < 400) success[alarm] = entry
    else failure[alarm] = entry
  }
  return { ...head, finishedTime: new Date(finishedTime).toISOString(), results: { success, failure } }
}

/** Ids are text from outside: no prototype. */
function emptyEntries(): Record<string, BatchEntry> {
  return Object.create(null) as Record<string, BatchEntry>
}
