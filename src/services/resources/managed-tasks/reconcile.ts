/** Reconciles the managed tasks of one resource. Idempotent. */
import { AppError, messageOf } from '#kernel'
import type { ResourceCollections } from '../collections.ts'
import type { ManagedTasks } from '../contract.ts'
import { wantedTasks } from './wanted-tasks.ts'

export interface Failure {
  readonly type: string
  readonly templateName: string
  readonly error: string
}

export type Existing = Awaited<ReturnType<ManagedTasks['of']>>

/** Returns failures instead of throwing them; rejects only if the call must be repeated. */
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
    // keep the first task of each key; a crash between two makers may have left a second task
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
