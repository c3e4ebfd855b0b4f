/** The collections of one tenant, opened once. */
import type { Collection, Storage, Store, Write } from '../../storage/contract.ts'
import { SOURCES, TASKS, type SourceRecord, type TaskRecord } from './tasks/task-record.ts'
import { OLD_VERSIONS, TEMPLATES, type OldVersionRecord, type TemplateRecord } from './templates/template-record.ts'

export interface TenantCollections {
  readonly tenant: string
  readonly tasks: Collection<TaskRecord>
  readonly templates: Collection<TemplateRecord>
  /** of templates */
  readonly oldVersions: Collection<OldVersionRecord>
  readonly sources: Collection<SourceRecord>
  /** for work beside the documents */
  readonly store: Store
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
      tasks: store.collection(TASKS),
      templates: store.collection(TEMPLATES),
      oldVersions: store.collection(OLD_VERSIONS),
      sources: store.collection(SOURCES),
      store,
      commit: (writes) => store.commit(writes),
    }
    this.#collections.set(tenant, collections)
    return collections
  }

  tenants(): Promise<readonly string[]> {
    return this.#storage.tenants()
  }
}
