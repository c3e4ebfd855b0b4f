/** Queued commands, and the outcomes of finished ones. */
import type { Json, Page } from '#kernel'
import type { CollectionSpec, Store, Write } from '#storage'
import type { ListQuery } from '../contract.ts'
import { pageOf } from '../list/list-documents.ts'
import { pagingOf } from '../list/read-listing.ts'

/** Its id orders the commands of a resource, and is the same on every attempt. */
export interface CommandJob {
  readonly resource: string
  /** as it came: `name`, `timestamp` and properties */
  readonly command: Readonly<Record<string, Json>>
  /** rules in a row that led to it */
  readonly hops: number
  /** with hops: what everything that came of one arrival is known by */
  readonly root?: string
  /** its lease: the holder, and when it expires, epoch ms by the clock of the store in this session */
  readonly lease?: { readonly owner: string; readonly until: number; readonly session?: string }
}

export const COMMAND_JOBS: CollectionSpec<CommandJob> = {
  name: 'resource_command_jobs',
  version: 1,
  fields: { resource: { type: 'text', of: ({ resource }) => resource } },
}

/** One execution. Its id is that of the job. */
export interface CommandRecord {
  readonly resource: string
  /** the id of the job, to sort by */
  readonly order: string
  readonly shown: {
    readonly name: string
    /** ISO 8601, when it began */
    readonly executionTime: string
    /** `name:version` */
    readonly actuator?: string
    readonly result?: { readonly success: boolean; readonly message?: string; readonly rawData?: Json }
    /** of one that came to no actuator */
    readonly errorMessage?: string
  }
}

export const COMMAND_LOG: CollectionSpec<CommandRecord> = {
  name: 'resource_command_log',
  version: 1,
  fields: {
    resource: { type: 'text', of: ({ resource }) => resource },
    order: { type: 'text', of: ({ order }) => order },
  },
}

/** executions of one resource that are kept */
const KEPT = 1000
/** so many more may be there before the oldest are let go */
const SURPLUS = 100

/** Newest first; `skip`, and `limit` of 100 unless said otherwise. Throws `VALIDATION` for other words and numbers. */
export function commandPage(
  store: Store,
  resource: string,
  query: ListQuery,
): Promise<Page<Readonly<Record<string, Json>>>> {
  const paging = { ...pagingOf(query), sort: [{ field: 'order', descending: true }] }
  const where = [{ field: 'resource', op: 'eq', value: resource }] as const
  return pageOf(store.collection(COMMAND_LOG), where, paging, ({ shown }) => shown)
}

/** What to delete so that the executions of a resource stay within their bound. */
export async function oldCommands(store: Store, resource: string): Promise<readonly Write[]> {
  const log = store.collection(COMMAND_LOG)
  const where = [{ field: 'resource', op: 'eq', value: resource }] as const
  if ((await log.count(where)) <= KEPT + SURPLUS) return []
  const old = await log.ids({ where, sort: [{ field: 'order', descending: true }], offset: KEPT, limit: 10 * SURPLUS })
  return old.map((id) => log.deleting(id))
}
