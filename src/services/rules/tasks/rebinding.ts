/** Restarts running tasks when metadata that binds their nodes to resources has changed. */
import { resolveResources } from '#core/spi'
import { isRefusal } from '#kernel'
import { walk } from '#storage'
import type { TenantRules } from '../tenant-rules.ts'
import type { TaskRecord } from './task-record.ts'

const PAGE = 200

/** A task whose resources can no longer be resolved keeps its present ones. */
export async function rebind(rules: TenantRules, resource: string): Promise<number> {
  let count = 0
  const runningOnIt = [
    { field: 'resource', op: 'eq', value: resource },
    { field: 'status', op: 'eq', value: 'running' },
  ] as const
  for await (const { id, value } of walk(rules.collections.tasks, runningOnIt, PAGE)) {
    if (value.effective.resource !== resource) continue
    if (!(await hasOtherBinding(rules, value))) continue
    try {
      await rules.changes.act(id, { action: 'restart' })
      count++
    } catch (error) {
      if (!isRefusal(error)) throw error
    }
  }
  return count
}

async function hasOtherBinding({ maker, context }: TenantRules, task: TaskRecord): Promise<boolean> {
  try {
    const prepared = maker.prepare(await maker.parts(task))
    if (!prepared.graph.resources.some(({ spec }) => spec.kind === 'meta' || spec.kind === 'text')) return false
    const resolved = new Set(await resolveResources(task.id, prepared, context.ports))
    return resolved.size !== task.resourceIds.length || task.resourceIds.some((id) => !resolved.has(id))
  } catch (error) {
    if (isRefusal(error)) return false
    throw error
  }
}
