/** Stores queued commands, and the outcomes of finished commands. */
import type { Json, Page } from '#kernel'
import type { CollectionSpec, Store, Write } from '#storage'
import type { ListQuery } from '../contract.ts'
import { pageOf } from '../list/list-documents.ts'
import { pagingOf } from '../list/read-listing.ts'

/** A queued command. Ids order the commands of a resource and stay the same across attempts. */
export interface CommandJob {
  readonly resource: string
  readonly command: Readonly<Record<string, Json>>
  readonly hops: number
  readonly root?: string
  /** who executes the command, until when; epoch ms by the clock of the store in this session */
  readonly lease?: { readonly owner: string; readonly until: number; readonly session?: string }
}

export const COMMAND_JOBS: CollectionSpec<CommandJob> = {
  name: 'resource_command_jobs',
  version: 1,
  fields: { resource: { type: 'text', of: ({ resource }) => resource } },
}

export interface CommandRecord {
  readonly resource: string
  readonly order: string
  readonly shown: {
    readonly name: string
    /** start of the execution, ISO 8601 */
    readonly executionTime: string
    /** `name:version` */
    readonly actuator?: string
    readonly result?: { readonly success: boolean; readonly message?: string; readonly rawData?: Json }
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

const KEPT = 1000
/** Excess above which the oldest executions are removed. */
const SURPLUS = 100

/** Returns executions newest first, with `skip`, and `limit` (default 100). Throws `VALIDATION`. */
export function commandPage(
  store: Store,
  resource: string,
  query: ListQuery,
): Promise<Page<Readonly<Record<string, Json>>>> {
  const paging = { ...pagingOf(query), sort: [{ field: 'order', descending: true }] }
  const where = [{ field: 'resource', op: 'eq', value: resource }] as const
  return pageOf(store.collection(COMMAND_LOG), where, paging, ({ shown }) => shown)
}

export async function oldCommands(store: Store, resource: string): Promise<readonly Write[]> {
  const log = store.collection(COMMAND_LOG)
  const where = [{ field: 'resource', op: 'eq', value: resource }] as const
  if ((await log.count(where)) <= KEPT + SURPLUS) return []
  const old = await log.ids({ where, sort: [{ field: 'order', descending: true }], offset: KEPT, limit: 10 * SURPLUS })
  return old.map((id) => log.deleting(id))
}
