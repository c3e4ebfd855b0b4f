/** Makes frozen deep copies of plain JSON, and recognizes copies it made before. */
import { isPlainObject } from '#kernel'

const FROZEN_COPIES = new WeakSet<object>()

/** Returns a deep, frozen copy of plain JSON (see `jsonProblem` of the kernel). */
export function frozenCopy<T>(value: T): T {
  const copy = frozen(value)
  if (typeof copy === 'object' && copy !== null) FROZEN_COPIES.add(copy)
  return copy
}

/** Whether `frozenCopy` created this object, which therefore needs no further copy. */
export function isFrozenCopy(value: object): boolean {
  return FROZEN_COPIES.has(value)
}

function frozen<T>(value: T): T {
  if (Array.isArray(value)) return Object.freeze(value.map((item: unknown) => frozen(item))) as T
  if (!isPlainObject(value)) return value
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value)) copy[key] = frozen(value[key])
  return Object.freeze(copy) as T
}
