/** Selects the tasks of a roll-out: the same resources on every host, and more of them for a larger share. */
import { hashText } from '#kernel'
import type { TaskRecord } from '../tasks/task-record.ts'
import type { RolloutRecord } from './rollout-record.ts'

const PARTS = 1_000_000

type Bound = Pick<TaskRecord, 'id' | 'effective' | 'resourceIds'>

/** Returns whether a task belongs to a roll-out. */
export function selectorOf({
  percent,
  resources,
}: Pick<RolloutRecord, 'percent' | 'resources'>): (task: Bound) => boolean {
  const named = resources && new Set(resources)
  return (task) => {
    const resource = resourceOfTask(task)
    if (named !== undefined) return named.has(resource)
    return percent === undefined || hashText(resource) % PARTS < (percent / 100) * PARTS
  }
}

/** Returns the resource of a task, the first of its nodes, or its own id. */
export function resourceOfTask({ id, effective, resourceIds }: Bound): string {
  return effective.resource ?? resourceIds[0] ?? id
}
