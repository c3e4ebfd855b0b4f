/** The stored state of the reconciler. */
import type { CollectionSpec, Store } from '#storage'

export interface ReconcilerCursor {
  readonly position: number
}

export const RECONCILER_CURSORS: CollectionSpec<ReconcilerCursor> = { name: 'upkeep_cursors', version: 1, fields: {} }

export const CURSOR = 'managed-tasks'

export interface LackingResource {
  readonly type: string
  readonly templates: readonly string[]
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

export type LackingTasks = {
  readonly templates: readonly string[]
  readonly error: string
  readonly resources: number
}

/** Maximum number of resources of a type to inspect; the reasons of the others are rarely different. */
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
    const { templates, error } = value
    const reason = JSON.stringify([templates, error])
    byReason.set(reason, { templates, error, resources: (byReason.get(reason)?.resources ?? 0) + 1 })
  }
  return [...byReason.values()]
}
