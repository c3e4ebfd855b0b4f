/** Projects an entity onto the attributes at dotted paths. */
import { FORBIDDEN_KEYS, isPlainObject, type Json, ownValue } from '#kernel'
import type { ResourceEntity } from '../contract.ts'

const MAX_STEPS = 10

export function isPath(path: string): boolean {
  const steps = path.split('.')
  return steps.length <= MAX_STEPS && steps.every((step) => step !== '' && !FORBIDDEN_KEYS.has(step))
}

/** Returns the value at a dotted path. An attribute whose name contains the dots takes precedence. */
export function valueAt(entity: unknown, path: string): unknown {
  const whole = ownValue(entity, path)
  if (whole !== undefined) return whole
  let value = entity
  for (const step of path.split('.')) value = ownValue(value, step)
  return value
}

export function project(entity: ResourceEntity, fields: readonly string[]): ResourceEntity {
  if (fields.length === 0) return entity
  const chosen: Record<string, Json> & { id: string } = { id: entity.id }
  for (const field of fields) {
    const value = valueAt(entity, field) as Json | undefined
    if (value !== undefined) put(chosen, Object.hasOwn(entity, field) ? [field] : field.split('.'), value)
  }
  return chosen
}

function put(target: Record<string, Json>, [step = '', ...rest]: readonly string[], value: Json): void {
  if (rest.length === 0) {
    target[step] = value
    return
  }
  const before = target[step]
  const inner: Record<string, Json> = isPlainObject(before) ? { ...(before as Record<string, Json>) } : {}
  put(inner, rest, value)
  target[step] = inner
}
