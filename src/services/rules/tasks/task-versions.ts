/** Keeps numbered versions of tasks without a template: the newest 100 of each. */
import { AppError, type Page } from '#kernel'
import type { Condition, Write } from '#storage'
import type { RulesCollections } from '../collections.ts'
import { documentChanges } from '../document-changes.ts'
import type { TaskRecord } from './task-record.ts'
import type { TaskVersion } from './task-schema.ts'
import type { TaskVersionMark } from './task-version-mark.ts'

/** Number of versions kept per task, including the current one. */
const MAX_TASK_VERSIONS = 100

/** Who changes a task, and why. */
export interface Author {
  readonly user: string
  readonly note?: string | undefined
}

export function taskVersionOf({ version, user, createTime }: TaskRecord): TaskVersionMark {
  return version ?? { number: 1, user, createTime }
}

/** Raises the version if the change affects what the task is, and returns what to store with it. */
export function versionedChange(
  collections: RulesCollections,
  before: TaskRecord,
  next: TaskRecord,
  by: Author | undefined,
  now: number,
): { readonly next: TaskRecord; readonly writes: readonly Write[] } {
  const isOfRule = before.template === undefined || next.template === undefined
  if (!isOfRule || documentChanges(whatCounts(before), whatCounts(next)).length === 0) return { next, writes: [] }
  const mark = taskVersionOf(before)
  const { user = before.user, note } = by ?? {}
  const number = mark.number + 1
  const version: TaskVersionMark = { number, user, createTime: now, ...(note !== undefined && { note }) }
  const writes: Write[] = []
  if (before.template === undefined) {
    const { name, form, conf, rule, rights, settings, effective, plugs } = before
    const fields = { name, form, conf, ...(rule && { rule }), ...(rights && { rights }), settings, effective, plugs }
    writes.push(
      collections.taskVersions.putting(idOf(before.id, mark.number), { task: before.id, version: mark, fields }),
    )
  }
  if (number > MAX_TASK_VERSIONS)
    writes.push(collections.taskVersions.deleting(idOf(before.id, number - MAX_TASK_VERSIONS)))
  return { next: { ...next, version }, writes }
}

function whatCounts({ name, template, rule, settings, effective }: TaskRecord): object {
  return { name, template: template ?? null, rule: rule ?? null, settings, effective }
}

export async function removalsOfVersions(collections: RulesCollections, task: TaskRecord): Promise<readonly Write[]> {
  if (task.version === undefined) return []
  const ids = await collections.taskVersions.ids({ where: ofTask(task.id), limit: MAX_TASK_VERSIONS })
  return ids.map((id) => collections.taskVersions.deleting(id))
}

/** Returns the task as it was in a version. Throws `NOT_FOUND`, and `WRONG_STATUS` for a task made from a template. */
export async function taskInVersion(
  collections: RulesCollections,
  task: TaskRecord,
  number: number,
): Promise<TaskRecord> {
  requireOwnRule(task)
  const newest = taskVersionOf(task).number
  if (number === newest) return task
  const old = (await collections.taskVersions.get(idOf(task.id, number)))?.value
  if (old === undefined) {
    const kept = `GET /api/tasks/${task.id}/versions lists the kept ones`
    throw new AppError('NOT_FOUND', `No version ${number} of task ${task.id}; its newest is ${newest}, ${kept}`)
  }
  const { rule: _rule, rights: _rights, ...others } = task
  return { ...others, ...old.fields, version: old.version }
}

export async function listTaskVersions(
  collections: RulesCollections,
  task: TaskRecord,
  { hits, startIndex }: { readonly hits: number; readonly startIndex: number },
): Promise<Page<TaskVersion>> {
  requireOwnRule(task)
  const where = ofTask(task.id)
  const showsNewest = startIndex === 0 && hits > 0
  const limit = showsNewest ? hits - 1 : hits
  const sort = [{ field: 'number', descending: true }]
  const offset = Math.max(0, startIndex - 1)
  const [old, count] = await Promise.all([
    limit === 0 ? [] : collections.taskVersions.find({ where, sort, offset, limit }),
    collections.taskVersions.count(where),
  ])
  const marks = [...(showsNewest ? [taskVersionOf(task)] : []), ...old.map(({ value }) => value.version)]
  return { values: marks.map(shownMark), skip: startIndex, limit: hits, total: count + 1 }
}

export function shownMark({ number, user, createTime, note }: TaskVersionMark): TaskVersion {
  return { version: number, user, createTime, ...(note !== undefined && { note }) }
}

function requireOwnRule({ id, template }: TaskRecord): void {
  if (template === undefined) return
  const path = `/api/templates/${encodeURIComponent(template)}/versions`
  throw new AppError('WRONG_STATUS', `task ${id} was made from a template, whose versions are at ${path}`)
}

function ofTask(task: string): readonly Condition[] {
  return [{ field: 'task', op: 'eq', value: task }]
}

function idOf(task: string, number: number): string {
  return `${task}/${number}`
}
