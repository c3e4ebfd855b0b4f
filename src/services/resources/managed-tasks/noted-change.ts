/** Effect of a change log entry on tasks. Pure. */
import { isPlainObject, type Json, ownValue } from '#kernel'

export type NotedChange =
  /**
   * `tasks`: its required tasks may have changed; `nodes`: bindings of its tasks may have changed with references in
   * its metadata
   */
  | { readonly kind: 'resource'; readonly id: string; readonly tasks: boolean; readonly nodes: boolean }
  | { readonly kind: 'type'; readonly id: string; readonly nodes: boolean }
  /** a written type, whose failed tasks are retried */
  | { readonly kind: 'retry'; readonly id: string }

/** `body`: a `MetadataEvent`; undefined when tasks cannot depend on it. */
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
    // a resource created without a type has no tasks: those of an earlier one with its id went with that one
    const isNew = type === 'create' || type === 'discovered'
    const tasks = isNew
      ? ownValue(entity, 'resourceTypeId') !== undefined
      : type === 'delete' || changed('resourceTypeId')
    return tasks || nodes ? { kind: 'resource', id, tasks, nodes: nodes || (type === 'update' && tasks) } : undefined
  }
  if (type === 'create' || type === 'delete' || nodes || changed('templates')) return { kind: 'type', id, nodes }
  return { kind: 'retry', id }
}

/** Whether an attribute is, was or contains a reference. */
function refers(before: unknown, entity: unknown, key: string): boolean {
  return [before, ownValue(entity, key)].some((value) => JSON.stringify(value ?? null).includes('"$ref"'))
}
