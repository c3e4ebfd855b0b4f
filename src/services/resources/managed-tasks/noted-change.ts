/** Works out how an entry of the change log affects tasks. Pure. */
import { isPlainObject, type Json, ownValue } from '#kernel'

export type NotedChange =
  /** `tasks`: other tasks may be required; `nodes`: nodes may be bound to other resources */
  | { readonly kind: 'resource'; readonly id: string; readonly tasks: boolean; readonly nodes: boolean }
  | { readonly kind: 'type'; readonly id: string; readonly nodes: boolean }
  /** a type was written, so its failed tasks are retried */
  | { readonly kind: 'retry'; readonly id: string }

/** `body`: a `MetadataEvent`. Returns undefined if tasks cannot depend on the change. */
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
    // a resource created without a type has no tasks; tasks of an earlier resource with this id were removed with it
    const isNew = type === 'create' || type === 'discovered'
    const tasks = isNew
      ? ownValue(entity, 'resourceTypeId') !== undefined
      : type === 'delete' || changed('resourceTypeId')
    return tasks || nodes ? { kind: 'resource', id, tasks, nodes: nodes || (type === 'update' && tasks) } : undefined
  }
  if (type === 'create' || type === 'delete' || nodes || changed('templates')) return { kind: 'type', id, nodes }
  return { kind: 'retry', id }
}

function refers(before: unknown, entity: unknown, key: string): boolean {
  return [before, ownValue(entity, key)].some((value) => JSON.stringify(value ?? null).includes('"$ref"'))
}
