/** The executions of a resource's commands, as they are listed. */
import type { Json, Page } from '#kernel'
import type { Store, Write } from '#storage'
import type { ListQuery } from '../contract.ts'
import { pageOf } from '../list/list-documents.ts'
import { pagingOf } from '../list/read-listing.ts'
import { COMMAND_LOG } from './command-record.ts'

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
