/** Opens the collections and the change log of the service. */
import { EffectLedger } from '#services/shared'
import type { Collection, Log, Store, Write } from '#storage'
import { CONSTRAINTS, type ConstraintRecord } from './constraints/constraint-schema.ts'
import { HISTORY, type HistoryRecord } from './history.ts'
import { RESOURCES, type ResourceRecord } from './resource-record.ts'
import { TYPES, type TypeRecord } from './type-record.ts'

/** Contains, in the order of commits, each write that tasks may depend on (`notedChange`). */
const CHANGE_LOG = 'resources'

export interface ResourceCollections {
  readonly tenant: string
  readonly store: Store
  readonly resources: Collection<ResourceRecord>
  readonly types: Collection<TypeRecord>
  readonly constraints: Collection<ConstraintRecord>
  readonly history: Collection<HistoryRecord>
  readonly log: Log
  readonly effects: EffectLedger
  commit(writes: readonly Write[]): ReturnType<Store['commit']>
}

export function openCollections(tenant: string, store: Store): ResourceCollections {
  return {
    tenant,
    store,
    resources: store.collection(RESOURCES),
    types: store.collection(TYPES),
    constraints: store.collection(CONSTRAINTS),
    history: store.collection(HISTORY),
    log: store.log(CHANGE_LOG),
    effects: new EffectLedger(store),
    commit: (writes) => store.commit(writes),
  }
}
