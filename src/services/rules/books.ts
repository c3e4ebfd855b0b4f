/** The collections of one tenant, opened once. */
import type { Collection, Storage, Store, Write } from '../../storage/contract.ts'
import { SOURCES, TASKS, type SourceRecord, type TaskRecord } from './task-record.ts'
import { OLD_VERSIONS, TEMPLATES, type OldVersionRecord, type TemplateRecord } from './template-record.ts'

export interface Books {
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

export class Library {
  readonly #storage: Storage
  readonly #books = new Map<string, Books>()

  constructor(storage: Storage) {
    this.#storage = storage
  }

  of(tenant: string): Books {
    const known = this.#books.get(tenant)
    if (known) return known
    const store = this.#storage.tenant(tenant)
    const books: Books = {
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
