/** Shared parts of imports and exports: their records, and the attempts of their jobs. */
import { isAway, messageOf } from '#kernel'
import type { JobContext, JobOutcome } from '#jobs'
import type { Collection, CollectionSpec } from '#storage'
import type { TransferState } from './transfer-schema.ts'

export interface Transfer {
  readonly state: TransferState
  readonly object: string
  readonly created: number
  readonly started?: number
  readonly ended?: number
  readonly error?: string
}

export function transferRecords<T extends Transfer>(name: string): CollectionSpec<T> {
  return {
    name,
    version: 1,
    audited: true,
    fields: {
      object: { type: 'text', of: ({ object }) => object },
      state: { type: 'text', of: ({ state }) => state },
      created: { type: 'number', of: ({ created }) => created },
    },
  }
}

export const ATTEMPTS = 10
const DAY_MS = 86_400_000
/** ms for which a record is kept */
export const KEPT_MS = 30 * DAY_MS
const SWEPT_AT_ONCE = 100
const MAX_MESSAGE = 2_000

/** Runs one attempt. Calls `fail` after the last attempt or a final error, but not while the store is unavailable. */
export async function attempted(
  { job, signal }: Pick<JobContext, 'job' | 'signal'>,
  work: () => Promise<JobOutcome>,
  { isFinal, fail }: { readonly isFinal: (error: unknown) => boolean; readonly fail: (error: string) => Promise<void> },
): Promise<JobOutcome> {
  try {
    return await work()
  } catch (error) {
    const isLast = isFinal(error) || job.attemptsMade + 1 >= ATTEMPTS
    if (signal.aborted || !isLast || isAway(error)) throw error
    await fail(messageOf(error).slice(0, MAX_MESSAGE))
    return { kind: 'completed' }
  }
}

export function transferInfo(id: string, { state, object, created, started, ended, error }: Transfer) {
  return {
    id,
    state,
    object,
    created: new Date(created).toISOString(),
    ...(started !== undefined && { started: new Date(started).toISOString() }),
    ...(ended !== undefined && { ended: new Date(ended).toISOString() }),
    ...(error !== undefined && { error }),
  }
}

export async function sweepTransfers<T extends Transfer>(records: Collection<T>, now: number): Promise<void> {
  const where = [{ field: 'created', op: 'lte', value: now - KEPT_MS }] as const
  const old = await records.ids({ where, limit: SWEPT_AT_ONCE })
  await Promise.all(old.map((id) => records.delete(id)))
}
