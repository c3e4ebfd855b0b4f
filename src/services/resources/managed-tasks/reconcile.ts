/** Brings the managed tasks of one resource to what they should be. May be repeated at any time. */
import { AppError, messageOf } from '#kernel'
import type { ResourceCollections } from '../collections.ts'
import type { ManagedTasks } from '../contract.ts'
import { wantedTasks } from './wanted-tasks.ts'

/** A task that is wanted and could not be made. */
export interface Failure {
  readonly type: string
  readonly templateName: string
  readonly error: string
}

/** What there is of a resource. */
export type Existing = Awaited<ReturnType<ManagedTasks['of']>>

/**
 * Removes what is too much and makes what is missing; what could not be made is told, not thrown. `existing`: its tasks
 * of now. Reads what is stored, and nothing that somebody remembers of it. Rejects when the documents or the tasks cannot be asked at all, with `CLOSED` when the host stops: then it has
 * to be done again.
 */
export async function reconcile(
  { resources, types }: ResourceCollections,
  tasks: ManagedTasks,
  id: string,
  existing: Existing,
): Promise<readonly Failure[]> {
  const resource = (await resources.get(id))?.value.own
  const typeId = resource?.['resourceTypeId']
  const type = typeof typeId === 'string' ? (await types.get(typeId))?.value.own : undefined
  const missing = new Map(wantedTasks(resource, type).map((wanted) => [wanted.key, wanted]))
  for (const task of existing) {
    const wanted = missing.get(task.key)
    // the first of a key stays: a second one is there after a crash between two makers
    if (wanted?.type === task.type) missing.delete(task.key)
    else await tasks.remove(task.taskId)
  }
  const failures: Failure[] = []
  for (const wanted of missing.values()) {
    try {
      await tasks.make(wanted)
    } catch (error) {
      if (isClosed(error)) throw error
      failures.push({ type: wanted.type, templateName: wanted.templateName, error: messageOf(error) })
    }
  }
  return failures
}

export function isClosed(error: unknown): boolean {
  return error instanceof AppError && error.code === 'CLOSED'
}
