/** The collections of one tenant, opened once. */
import type { Collection, Storage, Store, Write } from '../../storage/contract.ts'
import { SOURCES, TASKS, type SourceRecord, type TaskRecord } from './tasks/task-record.ts'
import { OLD_VERSIONS, TEMPLATES, type OldVersionRecord, type TemplateRecord } from './templates/template-record.ts'

export interface TenantRepositories {
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

export class Repositories {
  readonly #storage: Storage
  readonly #books = new Map<string, TenantRepositories>()

  constructor(storage: Storage) {
    this.#storage = storage
  }

  of(tenant: string): TenantRepositories {
    const known = this.#books.get(tenant)
    if (known) return known
    const store = this.#storage.tenant(tenant)
    const books: TenantRepositories = {
      tenant,
      tasks: store.collection(TASKS),
      templates: store.collection(TEMPLATES),
      oldVersions: store.collection(OLD_VERSIONS),
      sources: store.collection(SOURCES),
      store,
      commit: (writes) => store.commit(writes),
    }
    this.#books.set(tenant, books)
    return books
  }

  tenants(): Promise<readonly string[]> {
    return this.#storage.tenants()
  }
}
