/** What an entry of the log of changes means for managed tasks. Pure. */
import { isPlainObject, ownValue, type Json } from '../../../kernel/json.ts'

export type NotedChange =
  /** the tasks of that resource may be others now */
  | { readonly kind: 'resource'; readonly id: string }
  /** those of all its resources may be */
  | { readonly kind: 'type'; readonly id: string }
  /** the type was written: what could not be made is tried again */
  | { readonly kind: 'retry'; readonly id: string }

/** `body`: a `MetadataEvent`; undefined when no task can depend on it. */
export function notedChange(body: Json): NotedChange | undefined {
  if (!isPlainObject(body)) return undefined
  const { type, objectType } = body
  const entity = objectType === 'resource' ? body['resource'] : body['resourcetype']
  const id = ownValue(entity, 'id')
  if (typeof id !== 'string') return undefined
  const changed = (attribute: string): boolean =>
    !isPlainObject(body['oldValues']) || Object.hasOwn(body['oldValues'], attribute)
  if (objectType === 'resource') {
    // one that comes without a type has no tasks: what another of its id had went when that one was deleted
    if (type === 'create' || type === 'discovered') {
      return ownValue(entity, 'resourceTypeId') === undefined ? undefined : { kind: 'resource', id }
    }
    return type === 'delete' || changed('resourceTypeId') ? { kind: 'resource', id } : undefined
  }
  if (type === 'create' || type === 'delete' || changed('templates')) return { kind: 'type', id }
  return { kind: 'retry', id }
}
