/** Refuses keys that reach a prototype, and what is nested so deep that nobody meant it. */
import { at, FORBIDDEN_KEYS, type Issues } from '#kernel'

const MAX_DEPTH = 20

export function checkPlain(value: unknown, path: string, issues: Issues, depth = 0): void {
  if (typeof value !== 'object' || value === null) return
  if (depth >= MAX_DEPTH) {
    issues.wrong(path, `is deeper than ${MAX_DEPTH} levels`)
    return
  }
  for (const [key, inner] of Object.entries(value)) {
    if (FORBIDDEN_KEYS.has(key)) issues.wrong(path, `the name ${key} is not allowed`)
    else checkPlain(inner, at(path, key), issues, depth + 1)
  }
}
