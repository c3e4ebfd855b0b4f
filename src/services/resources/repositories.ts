/** The collections of one tenant, opened once, and the log of what happened to its resources. */
import { EffectLedger } from '../../effects/effect-order.ts'
import type { Collection, Log, Storage, Store, Write } from '../../storage/contract.ts'
import { CONSTRAINTS, type ConstraintRecord } from './constraint-record.ts'
import { HISTORY, type HistoryRecord } from './history.ts'
import { RESOURCES, type ResourceRecord } from './resource-record.ts'
import { TYPES, type TypeRecord } from './type-record.ts'

/**
 * Its partition 0 has one `MetadataEvent` for each write that tasks may depend on (`notedChange`), in the order of the
 * commits. Whoever follows it keeps a cursor.
 */
export const CHANGE_LOG = 'resources'

export interface TenantCollections {
  readonly tenant: string
  /** for collections of whoever works beside the documents */
  readonly store: Store
  readonly resources: Collection<ResourceRecord>
  readonly types: Collection<TypeRecord>
  readonly constraints: Collection<ConstraintRecord>
  readonly history: Collection<HistoryRecord>
  readonly log: Log
  readonly effects: EffectLedger
  commit(writes: readonly Write[]): ReturnType<Store['commit']>
}

export class CollectionsByTenant {
  readonly #storage: Storage
  readonly #collections = new Map<string, TenantCollections>()

  constructor(storage: Storage) {
    this.#storage = storage
  }

  of(tenant: string): TenantCollections {
    const known = this.#collections.get(tenant)
    if (known) return known
    const store = this.#storage.tenant(tenant)
    const collections: TenantCollections = {
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
    this.#collections.set(tenant, collections)
    return collections
  }

  tenants(): Promise<readonly string[]> {
    return this.#storage.tenants()
  }
}
