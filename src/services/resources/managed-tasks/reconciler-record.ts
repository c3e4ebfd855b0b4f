/** What the reconciler remembers of itself. */
import type { CollectionSpec, Store } from '#storage'

/** How far the log of changes was followed. */
export interface ReconcilerCursor {
  readonly position: number
}

export const RECONCILER_CURSORS: CollectionSpec<ReconcilerCursor> = { name: 'upkeep_cursors', version: 1, fields: {} }

/** The cursor of managed tasks among those of the collection. */
export const CURSOR = 'managed-tasks'

/** A resource that lacks tasks because they could not be made. Its id is that of the resource. */
export interface LackingResource {
  readonly type: string
  readonly templates: readonly string[]
  /** the first of them */
  readonly error: string
  /** epoch ms of the last attempt */
  readonly time: number
}

export const LACKING: CollectionSpec<LackingResource> = {
  name: 'upkeep_lacking',
  version: 1,
  fields: {
    type: { type: 'text', of: ({ type }) => type },
    template: { type: 'texts', of: ({ templates }) => templates },
  },
}

/** Tasks that could not be made, for one reason. */
export type LackingTasks = {
  readonly templates: readonly string[]
  readonly error: string
  /** how many lack them */
  readonly resources: number
}

/** resources of a type that are looked at: their reasons are few */
const MAX_LOOKED_AT = 1_000

/** Why resources lack tasks that their type wants: of one resource, or of all of a type. */
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
    const { templates, error } = value
    const reason = JSON.stringify([templates, error])
    byReason.set(reason, { templates, error, resources: (byReason.get(reason)?.resources ?? 0) + 1 })
  }
  return [...byReason.values()]
}
