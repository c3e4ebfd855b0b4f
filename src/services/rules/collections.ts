/** Opens the storage collections of the rules service. */
import type { Collection, Store, Write } from '#storage'
import { ROLLOUT_TASKS, type RolloutTaskRecord } from './rollouts/rollout-record.ts'
import { SOURCES, TASKS, type SourceRecord, type TaskRecord } from './tasks/task-record.ts'
import { TASK_VERSIONS, type TaskVersionRecord } from './tasks/task-version-record.ts'
import { OLD_VERSIONS, TEMPLATES, type OldVersionRecord, type TemplateRecord } from './templates/template-record.ts'

export interface RulesCollections {
  readonly tasks: Collection<TaskRecord>
  readonly templates: Collection<TemplateRecord>
  readonly oldVersions: Collection<OldVersionRecord>
  readonly sources: Collection<SourceRecord>
  readonly taskVersions: Collection<TaskVersionRecord>
  readonly rolloutTasks: Collection<RolloutTaskRecord>
  commit(writes: readonly Write[]): ReturnType<Store['commit']>
}

export function collectionsOf(store: Store): RulesCollections {
  return {
    tasks: store.collection(TASKS),
    templates: store.collection(TEMPLATES),
    oldVersions: store.collection(OLD_VERSIONS),
    sources: store.collection(SOURCES),
    taskVersions: store.collection(TASK_VERSIONS),
    rolloutTasks: store.collection(ROLLOUT_TASKS),
    commit: (writes) => store.commit(writes),
  }
}
