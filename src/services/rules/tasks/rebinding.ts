/** Running tasks whose nodes are bound through metadata follow the metadata. */
import { resolveResources } from '#core/spi'
import type { Ports } from '#core'
import { AppError } from '#kernel'
import { walk } from '#storage'
import type { TenantCollections } from '../collections.ts'
import type { TaskChanges } from './task-changes.ts'
import type { TaskMaker } from './task-maker.ts'
import type { TaskRecord } from './task-record.ts'

const PAGE = 200

export interface Rebinding {
  readonly maker: TaskMaker
  readonly changes: TaskChanges
  readonly ports: Ports
  /** whether this is the partition that has the task */
  readonly isHere: (id: string) => boolean
}

/**
 * Starts those tasks of a resource anew whose nodes would be bound to other resources now; gives how many. A task that
 * could not be bound at all now keeps what it has: it is better late than gone.
 */
export async function rebind(parts: Rebinding, collections: TenantCollections, resource: string): Promise<number> {
  let count = 0
  const runningOnIt = [
    { field: 'resource', op: 'eq', value: resource },
    { field: 'status', op: 'eq', value: 'running' },
  ] as const
  for await (const { id, value } of walk(collections.tasks, runningOnIt, PAGE)) {
    if (
      !parts.isHere(id) ||
      value.effective.resource !== resource ||
      !(await isBoundElsewhere(parts, collections, value))
    )
      continue
    try {
      await parts.changes.restart(collections, id)
      count++
    } catch (error) {
      if (!(error instanceof AppError) || error.status >= 500) throw error
    }
  }
  return count
}

async function isBoundElsewhere(
  { maker, ports }: Rebinding,
  collections: TenantCollections,
  task: TaskRecord,
): Promise<boolean> {
  try {
    const prepared = maker.prepare(await maker.parts(collections, task))
    if (!prepared.graph.resources.some(({ spec }) => spec.kind === 'meta' || spec.kind === 'text')) return false
    const resolved = new Set(await resolveResources(task.id, prepared, ports))
    return resolved.size !== task.resourceIds.length || task.resourceIds.some((id) => !resolved.has(id))
  } catch (error) {
    if (error instanceof AppError && error.status < 500) return false
    throw error
  }
}
