/** Brings the managed tasks of one resource to what they should be. May be repeated at any time. */
import { AppError, messageOf } from '#kernel'
import type { ManagedTasks, ResourceEntity } from '../contract.ts'
import { wantedTasks } from './wanted-tasks.ts'

/** What the reconciler reads of the documents; both as they are stored now. */
export interface ReconcilerDocuments {
  /** own attributes are enough */
  resource(tenant: string, id: string): Promise<ResourceEntity | undefined>
  type(tenant: string, id: string): Promise<ResourceEntity | undefined>
  /** ids of the resources of a type after an id, in the order of ids */
  ofType(tenant: string, type: string, after: string | undefined, limit: number): Promise<readonly string[]>
  countOfType(tenant: string, type: string): Promise<number>
  /** whether the type still names that operation, because others work on it too */
  isBusy(tenant: string, type: string, operation: string): Promise<boolean>
}

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
 * of now. Rejects when the documents or the tasks cannot be asked at all, with `CLOSED` when the host stops: then it has
 * to be done again.
 */
export async function reconcile(
  documents: ReconcilerDocuments,
  tasks: ManagedTasks,
  tenant: string,
  id: string,
  existing: Existing,
): Promise<readonly Failure[]> {
  const resource = await documents.resource(tenant, id)
  const typeId = resource?.['resourceTypeId']
  const type = typeof typeId === 'string' ? await documents.type(tenant, typeId) : undefined
  const missing = new Map(wantedTasks(resource, type).map((wanted) => [wanted.key, wanted]))
  for (const task of existing) {
    const wanted = missing.get(task.key)
    // the first of a key stays: a second one is there after a crash between two makers
    if (wanted?.type === task.type) missing.delete(task.key)
    else await tasks.remove(tenant, task.taskId)
  }
  const failures: Failure[] = []
  for (const wanted of missing.values()) {
    try {
      await tasks.make(tenant, wanted)
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
