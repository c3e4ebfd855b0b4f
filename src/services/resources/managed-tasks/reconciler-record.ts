/** What the reconciler remembers of itself. */
import type { CollectionSpec } from '#storage'

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
