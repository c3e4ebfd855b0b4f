/** Why resources lack tasks that their type wants, as the reconciler noted it. */
import type { Store } from '#storage'
import type { LackingTasks } from '../background-work.ts'
import { LACKING, type LackingResource } from './reconciler-record.ts'

/** resources of a type that are looked at: their reasons are few */
const MAX_LOOKED_AT = 1_000

export async function lackingTasks(
  store: Store,
  of: { readonly resource: string } | { readonly type: string },
): Promise<readonly LackingTasks[]> {
  const records = store.collection(LACKING)
  const found =
    'resource' in of
      ? await records.getMany([of.resource])
      : await records.find({ where: [{ field: 'type', op: 'eq', value: of.type }], limit: MAX_LOOKED_AT })
  const byReason = new Map<string, LackingTasks>()
  for (const { value } of found) {
    const reason = reasonOf(value)
    const before = byReason.get(reason)
    const { templates, error } = value
    byReason.set(reason, { templates, error, resources: (before?.resources ?? 0) + 1 })
  }
  return [...byReason.values()]
}

function reasonOf({ templates, error }: LackingResource): string {
  return JSON.stringify([templates, error])
}
