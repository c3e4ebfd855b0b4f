/** The stored record of a replaced version of a task. */
import type { CollectionSpec } from '#storage'
import type { TaskRecord } from './task-record.ts'
import type { TaskVersionMark } from './task-version-mark.ts'

type VersionedFields = Pick<
  TaskRecord,
  'name' | 'form' | 'conf' | 'rule' | 'rights' | 'settings' | 'effective' | 'plugs'
>

/** A replaced version. */
export interface TaskVersionRecord {
  readonly task: string
  readonly version: TaskVersionMark
  readonly fields: VersionedFields
}

export const TASK_VERSIONS: CollectionSpec<TaskVersionRecord> = {
  name: 'task_versions',
  version: 1,
  fields: {
    task: { type: 'text', of: ({ task }) => task },
    number: { type: 'number', of: ({ version }) => version.number },
  },
  together: [['task', 'number']],
}
