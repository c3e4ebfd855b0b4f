/** Whether what a plug gives is plain JSON, and the place where it is not: what is kept of it must survive a save. */
import { isPlainObject } from '#kernel'

const MAX_DEPTH = 100
const NAME = /^[A-Za-z_$][\w$]*$/

/** Memories that change in place and stay plain JSON, as their plugs say. */
const KEPT_PLAIN = new WeakSet<object>()

/**
 * Says of a memory that its plug changes in place that it is plain JSON and stays so: no answer with it is walked, which
 * would cost as much as copying it. Returns the same object.
 */
export function keptPlain<T extends object>(memory: T): T {
  KEPT_PLAIN.add(memory)
  return memory
}

/** Whether a value is plain JSON. `undefined` inside an object counts as an absent field. */
export function isPlainJson(value: unknown, depth = 0): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true
  if (typeof value !== 'object' || depth >= MAX_DEPTH) return false
  if (Array.isArray(value)) {
    for (const item of value) if (!isPlainJson(item, depth + 1)) return false
    return true
  }
  if (KEPT_PLAIN.has(value)) return true
  return isPlainObject(value) && isPlainRecord(value, depth)
}

/** The same of an object that is known to be plain itself. */
export function isPlainRecord(record: Readonly<Record<string, unknown>>, depth = 0): boolean {
  for (const key in record) {
    const value = record[key]
    if (value !== undefined && !isPlainJson(value, depth + 1)) return false
  }
  return true
}

/** The first place of a value that is not plain JSON, as text for people; undefined when all of it is. `path`: of the value. */
export function jsonFault(value: unknown, path: string): string | undefined {
  return isPlainJson(value) ? undefined : faultAt(value, path, [])
}

function faultAt(value: unknown, path: string, above: readonly Above[]): string | undefined {
  if (typeof value !== 'object' || value === null) return faultOfLeaf(value, path)
  const circle = above.find((one) => one.value === value)
  if (circle !== undefined) return `${path}, which leads back to ${circle.path}; give a copy without the circle`
  if (above.length >= MAX_DEPTH)
    return `${path}, which is nested deeper than ${MAX_DEPTH} levels; give what is needed of it`
  const below = [...above, { value, path }]
  if (Array.isArray(value)) return firstFault(value.entries(), (i) => `${path}[${i}]`, below)
  if (!isPlainObject(value))
    return `${path}, which is ${classOf(value)}; give a plain object, a list, a text or a number made of it`
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
    return Number.isFinite(value) ? undefined : `${path}, which is ${value}; leave it out, or give null`
  }
  if (typeof value === 'bigint') return `${path}, which is a bigint; give a number, or a text of its digits`
  if (typeof value === 'undefined') return `${path}, which is undefined; give null`
  if (typeof value === 'function' || typeof value === 'symbol') return `${path}, which is a ${typeof value}; give data`
  return undefined
}

function classOf(value: object): string {
  const { constructor } = value
  const name = typeof constructor === 'function' ? constructor.name : ''
  return name === '' ? 'an object of a class' : `an object of the class ${name}`
}
