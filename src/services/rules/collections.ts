/** The collections of one tenant. */
import type { Collection, Storage, Store, Write } from '#storage'
import { SOURCES, TASKS, type SourceRecord, type TaskRecord } from './tasks/task-record.ts'
import { OLD_VERSIONS, TEMPLATES, type OldVersionRecord, type TemplateRecord } from './templates/template-record.ts'

export interface TenantCollections {
  readonly tenant: string
  readonly tasks: Collection<TaskRecord>
  readonly templates: Collection<TemplateRecord>
  /** of templates */
  readonly oldVersions: Collection<OldVersionRecord>
  readonly sources: Collection<SourceRecord>
  commit(writes: readonly Write[]): ReturnType<Store['commit']>
}

export function collectionsOf(storage: Storage, tenant: string): TenantCollections {
  const store = storage.tenant(tenant)
  return {
    tenant,
    tasks: store.collection(TASKS),
    templates: store.collection(TEMPLATES),
    oldVersions: store.collection(OLD_VERSIONS),
    sources: store.collection(SOURCES),
    commit: (writes) => store.commit(writes),
  }
}
