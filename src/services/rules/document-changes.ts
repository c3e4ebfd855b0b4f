/** Compares JSON documents. */
import { at } from '#kernel'
import type { DocumentChange } from './tasks/task-schema.ts'

const MAX_CHANGES = 1000

/** Lists the changes with their JSON pointers. Arrays are compared index by index. */
export function documentChanges(from: object, to: object): readonly DocumentChange[] {
  const found: DocumentChange[] = []
  collect(from, to, '', found)
  return found
}

function collect(from: unknown, to: unknown, path: string, found: DocumentChange[]): void {
  if (from === to || found.length >= MAX_CHANGES) return
  if (isTree(from) && isTree(to) && Array.isArray(from) === Array.isArray(to)) {
    for (const key of new Set([...Object.keys(from), ...Object.keys(to)])) {
      collect(from[key], to[key], at(path, key), found)
    }
    return
  }
  found.push({ path, ...(from !== undefined && { from }), ...(to !== undefined && { to }) })
}

function isTree(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
