/** What an entry of the log of changes means for tasks. Pure. */
import { isPlainObject, type Json, ownValue } from '#kernel'

export type NotedChange =
  /**
   * `tasks`: those that the resource should have may be others now; `nodes`: those that it has may be bound to other
   * resources now, because references in its metadata changed
   */
  | { readonly kind: 'resource'; readonly id: string; readonly tasks: boolean; readonly nodes: boolean }
  /** the same for all resources of a type */
  | { readonly kind: 'type'; readonly id: string; readonly nodes: boolean }
  /** the type was written: what could not be made is tried again */
  | { readonly kind: 'retry'; readonly id: string }

/** `body`: a `MetadataEvent`; undefined when no task can depend on it. */
export function notedChange(body: Json): NotedChange | undefined {
  if (!isPlainObject(body)) return undefined
  const { type, objectType } = body
  const entity = objectType === 'resource' ? body['resource'] : body['resourcetype']
  const id = ownValue(entity, 'id')
  if (typeof id !== 'string') return undefined
  const old = body['oldValues']
  const changed = (attribute: string): boolean => !isPlainObject(old) || Object.hasOwn(old, attribute)
  const nodes = type === 'update' && isPlainObject(old) && Object.keys(old).some((key) => refers(old[key], entity, key))
  if (objectType === 'resource') {
    // one that comes without a type has no tasks: what another of its id had went when that one was deleted
    const isNew = type === 'create' || type === 'discovered'
    const tasks = isNew
      ? ownValue(entity, 'resourceTypeId') !== undefined
      : type === 'delete' || changed('resourceTypeId')
    return tasks || nodes ? { kind: 'resource', id, tasks, nodes: nodes || (type === 'update' && tasks) } : undefined
  }
  if (type === 'create' || type === 'delete' || nodes || changed('templates')) return { kind: 'type', id, nodes }
  return { kind: 'retry', id }
}

/** Whether an attribute was or is a reference, or has one in it. */
function refers(before: unknown, entity: unknown, key: string): boolean {
  return [before, ownValue(entity, key)].some((value) => JSON.stringify(value ?? null).includes('"$ref"'))
}
