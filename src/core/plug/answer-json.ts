/** Checks that results of plugs are plain JSON, so that they survive a save, and locates the first fault. */
import { isPlainObject, MAX_JSON_DEPTH } from '#kernel'

const NAME = /^[A-Za-z_$][\w$]*$/

const KEPT_PLAIN = new WeakSet<object>()

/**
 * Marks an `internalState` that its plug modifies in place as plain JSON, now and later. This skips the check, which
 * would cost as much as a copy. Returns the same object.
 */
export function keptPlain<T extends object>(memory: T): T {
  KEPT_PLAIN.add(memory)
  return memory
}

/** Returns whether the value is plain JSON. `undefined` inside an object counts as an absent field. */
export function isPlainJson(value: unknown, depth = 0): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true
  if (typeof value !== 'object' || depth >= MAX_JSON_DEPTH) return false
  if (Array.isArray(value)) {
    for (const item of value) if (!isPlainJson(item, depth + 1)) return false
    return true
  }
  if (KEPT_PLAIN.has(value)) return true
  return isPlainObject(value) && isPlainRecord(value, depth)
}

export function isPlainRecord(record: Readonly<Record<string, unknown>>, depth = 0): boolean {
  for (const key in record) {
    const value = record[key]
    if (value !== undefined && !isPlainJson(value, depth + 1)) return false
  }
  return true
}

/**
 * Describes the first part of a value that is not plain JSON; undefined if all of it is. `path`: location of the value.
 */
export function jsonFault(value: unknown, path: string): string | undefined {
  return isPlainJson(value) ? undefined : faultAt(value, path, [])
}

function faultAt(value: unknown, path: string, above: readonly Above[]): string | undefined {
  if (typeof value !== 'object' || value === null) return faultOfLeaf(value, path)
  const circle = above.find((one) => one.value === value)
  if (circle !== undefined) return `${path}, which leads back to ${circle.path}; use a copy without the circle`
  if (above.length >= MAX_JSON_DEPTH)
    return `${path}, which is nested deeper than ${MAX_JSON_DEPTH} levels; use only the needed parts`
  const below = [...above, { value, path }]
  if (Array.isArray(value)) return firstFault(value.entries(), (i) => `${path}[${i}]`, below)
  if (!isPlainObject(value))
    return `${path}, which is ${classOf(value)}; use a plain object, a list, a text or a number`
  const fields = Object.entries(value).filter(([, item]) => item !== undefined)
  return firstFault(fields, (key) => `${path}${NAME.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`}`, below)
}

interface Above {
  readonly value: object
  readonly path: string
}

function firstFault<Key>(
  items: Iterable<readonly [Key, unknown]>,
  pathOf: (key: Key) => string,
  above: readonly Above[],
): string | undefined {
  for (const [key, item] of items) {
    const fault = isPlainJson(item, above.length) ? undefined : faultAt(item, pathOf(key), above)
    if (fault !== undefined) return fault
  }
  return undefined
}

function faultOfLeaf(value: unknown, path: string): string | undefined {
  if (typeof value === 'number') {
    return Number.isFinite(value) ? undefined : `${path}, which is ${value}; omit it or use null`
  }
  if (typeof value === 'bigint') return `${path}, which is a bigint; use a number, or a text of its digits`
  if (typeof value === 'undefined') return `${path}, which is undefined; use null`
  if (typeof value === 'function' || typeof value === 'symbol') return `${path}, which is a ${typeof value}; use data`
  return undefined
}

function classOf(value: object): string {
  const { constructor } = value
  const name = typeof constructor === 'function' ? constructor.name : ''
  return name === '' ? 'an object of a class' : `an object of the class ${name}`
}
