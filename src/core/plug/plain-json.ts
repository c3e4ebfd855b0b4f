/** Plain JSON from plugs and texts: checked, bounded in depth, and without keys that reach a prototype. */
import { FORBIDDEN_KEYS, isPlainObject } from '#kernel'

/** Depth limit, so that later walks may recurse. */
const MAX_DEPTH = 100

/**
 * Fault of a value as plain JSON with harmless keys, as text that completes "it ..."; `undefined`: none. `undefined`
 * inside an object counts as an absent field.
 */
export function jsonProblem(value: unknown, depth = 0): string | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `holds ${value}, which JSON cannot express`
  if (depth >= MAX_DEPTH) return `is nested deeper than ${MAX_DEPTH} levels`
  if (Array.isArray(value)) return firstProblem(value, depth)
  if (!isPlainObject(value)) return `holds a value that is not JSON (${kindOf(value)})`
  for (const key of Object.keys(value)) {
    if (FORBIDDEN_KEYS.has(key)) return `has the key "${key}", which is not allowed`
  }
  return firstProblem(
    Object.values(value).filter((item) => item !== undefined),
    depth,
  )
}

/**
 * Parses JSON text. Throws a plain `Error` with a readable text when it is malformed, too deep, or has a forbidden key.
 */
export function parsePlainJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  const problem = jsonProblem(value)
  if (problem !== undefined) throw new Error(`it ${problem}`)
  return value
}

const FROZEN_COPIES = new WeakSet<object>()

/** Deep, frozen copy of plain JSON (see jsonProblem). */
export function frozenCopy<T>(value: T): T {
  const copy = frozen(value)
  if (typeof copy === 'object' && copy !== null) FROZEN_COPIES.add(copy)
  return copy
}

/** True for results of `frozenCopy`, which never change. */
export function isFrozenCopy(value: object): boolean {
  return FROZEN_COPIES.has(value)
}

function frozen<T>(value: T): T {
  // the copy has the same fields, each of them copied
  if (Array.isArray(value)) return Object.freeze(value.map((item: unknown) => frozen(item))) as T
  if (!isPlainObject(value)) return value
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value)) copy[key] = frozen(value[key])
  return Object.freeze(copy) as T
}

function firstProblem(items: readonly unknown[], depth: number): string | undefined {
  for (const item of items) {
    const problem = jsonProblem(item, depth + 1)
    if (problem !== undefined) return problem
  }
  return undefined
}

function kindOf(value: unknown): string {
  return typeof value === 'object' ? 'an object of a class' : typeof value
}
