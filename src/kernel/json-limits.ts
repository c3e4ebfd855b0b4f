/** Limits of plain JSON: its depth, finite numbers, and no keys that reach a prototype. */
import { kindOf } from './issues.ts'
import { FORBIDDEN_KEYS, isPlainObject } from './json.ts'

/** Depth limit, so that later walks may recurse. */
export const MAX_JSON_DEPTH = 100

/** Returns text that completes "it ..."; an undefined field of an object counts as absent. */
export function jsonProblem(value: unknown, most = MAX_JSON_DEPTH, depth = 0): string | undefined {
  if (typeof value === 'number')
    return Number.isFinite(value) ? undefined : `contains ${value}, which JSON cannot express`
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined
  if (depth >= most) return `is nested deeper than ${most} levels`
  if (Array.isArray(value)) {
    for (const item of value) {
      const problem = jsonProblem(item, most, depth + 1)
      if (problem !== undefined) return problem
    }
    return undefined
  }
  if (!isPlainObject(value)) return `contains a value that is not JSON (${kindOf(value)})`
  for (const key of Object.keys(value)) {
    if (FORBIDDEN_KEYS.has(key)) return `has the key "${key}", which is not allowed`
    const item = value[key]
    const problem = item === undefined ? undefined : jsonProblem(item, most, depth + 1)
    if (problem !== undefined) return problem
  }
  return undefined
}

export function parsePlainJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  const problem = jsonProblem(value)
  if (problem !== undefined) throw new Error(`it ${problem}`)
  return value
}
