/** The executions of a resource's commands, as they are listed. */
import type { Json, Page } from '#kernel'
import type { Store, Write } from '#storage'
import { QueryReader } from '#services/shared'
import type { ListQuery } from '../contract.ts'
import { COMMAND_LOG } from './command-record.ts'

const DEFAULT_COMMANDS = 100
const MAX_COMMANDS = 1000
/** executions of one resource that are kept */
const KEPT = 1000
/** so many more may be there before the oldest are let go */
const SURPLUS = 100

/** Newest first; `skip`, and `limit` of 100 unless said otherwise. Throws `VALIDATION` for other words and numbers. */
export async function commandPage(
  store: Store,
  resource: string,
  query: ListQuery,
): Promise<Page<Readonly<Record<string, Json>>>> {
  const reader = new QueryReader(query)
  const skip = reader.integer('skip') ?? 0
  const limit = reader.integer('limit', { most: MAX_COMMANDS }) ?? DEFAULT_COMMANDS
  reader.done()
  const log = store.collection(COMMAND_LOG)
  const where = [{ field: 'resource', op: 'eq', value: resource }] as const
  const [found, total] = await Promise.all([
    log.find({ where, sort: [{ field: 'order', descending: true }], offset: skip, limit }),
    log.count(where),
  ])
  return { values: found.map(({ value }) => value.shown), skip, limit, total }
}

/** What to delete so that the executions of a resource stay within their bound. */
export async function oldCommands(store: Store, resource: string): Promise<readonly Write[]> {
  const log = store.collection(COMMAND_LOG)
  const where = [{ field: 'resource', op: 'eq', value: resource }] as const
  if ((await log.count(where)) <= KEPT + SURPLUS) return []
  const old = await log.ids({ where, sort: [{ field: 'order', descending: true }], offset: KEPT, limit: 10 * SURPLUS })
  return old.map((id) => log.deleting(id))
}
