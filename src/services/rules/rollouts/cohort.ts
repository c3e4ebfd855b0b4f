/** Selects the tasks of a roll-out: the same resources on every host, and more of them for a larger share. */
import { hashText } from '#kernel'
import type { TaskRecord } from '../tasks/task-record.ts'
import type { RolloutRecord } from './rollout-record.ts'

const PARTS = 1_000_000

export function isSelected(
  { percent, resources }: Pick<RolloutRecord, 'percent' | 'resources'>,
  task: Pick<TaskRecord, 'id' | 'effective' | 'resourceIds'>,
): boolean {
  const resource = resourceOfTask(task)
  if (resources !== undefined) return resources.includes(resource)
  return percent === undefined || hashText(resource) % PARTS < (percent / 100) * PARTS
}

/** Returns the resource of a task, the first of its nodes, or its own id. */
export function resourceOfTask({ id, effective, resourceIds }: Pick<TaskRecord, 'id' | 'effective' | 'resourceIds'>) {
  return effective.resource ?? resourceIds[0] ?? id
}
