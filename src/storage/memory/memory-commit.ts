/** Commits units of work in memory: evaluated as a whole, then applied, so nothing is ever undone (STORE-1). */
import { conflictError, isExpected, type Conflict } from '../conflicts.ts'
import type { PreparedWrite } from '../prepare-writes.ts'
import type { KnownSpec } from '../spec.ts'
import type { MemoryLogs } from './memory-logs.ts'
import type { MemoryTable } from './memory-table.ts'

interface Draft {
  there: boolean
  /** highest version that the id has had so far */
  version: number
}

export function commitInMemory(
  writes: readonly PreparedWrite[],
  tableOf: (known: KnownSpec) => MemoryTable,
  logs: MemoryLogs,
): readonly number[] {
  const drafts = new Map<MemoryTable, Map<string, Draft>>()
  const lasts = new Map<string, number>()
  const conflicts: Conflict[] = []
  const results = writes.map((write, index) => {
    if (write.kind === 'append') {
      const key = `${write.log} ${write.partition}`
      const last = (lasts.get(key) ?? logs.last(write.log, write.partition)) + write.texts.length
      lasts.set(key, last)
      return last
    }
    const draft = draftOf(drafts, tableOf(write.known), write.id)
    if (!isExpected(write.expect, draft.there ? draft.version : undefined)) {
      const actual = draft.there ? draft.version : 'absent'
      conflicts.push({ index, collection: write.known.name, id: write.id, expected: write.expect, actual })
      return 0
    }
    if (write.kind === 'put') {
      draft.there = true
      draft.version += 1
      return draft.version
    }
    if (write.kind === 'expect') return draft.version
    const found = draft.there
    draft.there = false
    return Number(found)
  })
  if (conflicts.length > 0) throw conflictError(conflicts)
  for (const [index, write] of writes.entries()) {
    if (write.kind === 'append') logs.append(write.log, write.partition, write.texts)
    else if (write.kind === 'delete') tableOf(write.known).delete(write.id)
    else if (write.kind === 'put') tableOf(write.known).put(write.id, results[index] ?? 0, write.text, write.fields)
  }
  return results
}

function draftOf(drafts: Map<MemoryTable, Map<string, Draft>>, table: MemoryTable, id: string): Draft {
  let ofTable = drafts.get(table)
  if (ofTable === undefined) {
    ofTable = new Map()
    drafts.set(table, ofTable)
  }
  let draft = ofTable.get(id)
  if (draft === undefined) {
    draft = { there: table.get(id) !== undefined, version: table.lastVersion(id) }
    ofTable.set(id, draft)
  }
  return draft
}
