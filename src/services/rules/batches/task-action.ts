/** One action of a batch on one task: what it does, and what it would change. */
import { AppError } from '#kernel'
import type { BatchEntry, TaskAction } from './batch-schema.ts'
import type { TenantCollections } from '../collections.ts'
import { documentChanges } from '../document-changes.ts'
import { refusalText } from '../error-body.ts'
import { noTaskWithId, notPossible, removeRefused } from '../error-texts.ts'
import type { TaskChanges } from '../tasks/task-changes.ts'
import type { Draft } from '../tasks/task-maker.ts'
import type { TaskRecord } from '../tasks/task-record.ts'
import type { DocumentChange, TaskPreview } from '../tasks/task-schema.ts'
import type { TaskShow } from '../tasks/task-show.ts'

const DONE: BatchEntry = { statusCode: 200 }

/**
 * Does it, and says how it went: the outcome of one task is never an error of the batch.
 * `again`: it may have been done already, before a crash; then that counts as done.
 */
export async function act(
  changes: TaskChanges,
  collections: TenantCollections,
  id: string,
  action: TaskAction,
  batch: string,
  again: boolean,
): Promise<BatchEntry> {
  try {
    if (again) {
      const stored = await collections.tasks.get(id)
      if (stored === undefined && removes(action)) return DONE
      if (stored?.value.batch === batch) return DONE
    }
    await carryOut(changes, collections, id, action, batch)
    return DONE
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error
    if (error.code === 'NOT_FOUND') return entryOf(noTaskWithId(id))
    return entryOf(error)
  }
}

export function entryOf(error: AppError): BatchEntry {
  return { statusCode: error.status, error: refusalText(error) }
}

function removes({ action }: TaskAction): boolean {
  return action === 'delete' || action === 'stopAndDelete'
}

async function carryOut(
  changes: TaskChanges,
  collections: TenantCollections,
  id: string,
  action: TaskAction,
  batch: string,
): Promise<void> {
  const options = { batch }
  switch (action.action) {
    case 'start':
      return void (await changes.start(collections, id, options))
    case 'stop':
      return void (await changes.stop(collections, id, options))
    case 'restart':
      return void (await changes.restart(collections, id, options))
    case 'reload':
      return void (await changes.reload(collections, id, { ...options, templateVersion: action.templateVersion }))
    case 'delete':
      return changes.remove(collections, id, options)
    case 'stopAndDelete':
      return changes.remove(collections, id, { ...options, force: true })
    case 'updatePlugins':
      return void (await changes.updatePlugs(collections, id, action.updates, options))
    case 'updateProperties':
      return void (await changes.updateProperties(collections, id, action.update, options))
  }
}

/** What an action would do to a task; nothing is changed. */
export async function preview(
  changes: TaskChanges,
  show: TaskShow,
  collections: TenantCollections,
  task: TaskRecord,
  action: TaskAction,
): Promise<TaskPreview> {
  const { id: ID, name } = task
  try {
    return { ID, name, ...(await outcome(changes, show, collections, task, action)) }
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error
    return { ID, name, changed: false, changes: [], error: refusalText(error) }
  }
}

type Outcome = Omit<TaskPreview, 'ID' | 'name'>

async function outcome(
  changes: TaskChanges,
  show: TaskShow,
  collections: TenantCollections,
  task: TaskRecord,
  action: TaskAction,
): Promise<Outcome> {
  const { status } = task
  switch (action.action) {
    case 'start':
      if (status === 'running') throw notPossible('start', status)
      return changing([{ path: '/status', from: status, to: 'running' }])
    case 'stop':
      if (status !== 'running') throw notPossible('stop', status)
      return changing([{ path: '/status', from: status, to: 'stopped' }])
    case 'restart':
      return changing([{ path: '/status', from: status, to: 'running' }])
    case 'delete':
      if (status === 'running') throw removeRefused(status)
      return changing([{ path: '', from: { ID: task.id } }])
    case 'stopAndDelete':
      return changing([{ path: '', from: { ID: task.id } }])
    case 'reload':
      return updated(await changes.drafts.reloaded(collections, task, action.templateVersion))
    case 'updatePlugins':
      return updated(await changes.drafts.withUpdates(collections, task, action.updates))
    case 'updateProperties':
      return updated(await changes.drafts.withProperties(collections, task, action.update))
  }

  /** What an update would change in the task, and what its run would lose. */
  async function updated(draft: Draft): Promise<Outcome> {
    const before = { ...(await show.rule(collections, task)), settings: task.effective }
    const { sensors = [], actuators = [], relations = [], triggers = [], notes = [] } = draft.prepared.rule
    const after = { sensors, actuators, relations, triggers, notes, settings: draft.fields.effective }
    const effect = await changes.effect(collections, task, draft)
    const { templateVersion } = draft.fields
    return {
      ...changing(documentChanges(before, after)),
      ...(templateVersion !== undefined && { templateVersion }),
      ...(effect && { lost: effect.lost }),
    }
  }
}

function changing(changes: readonly DocumentChange[]): Outcome {
  return { changed: changes.length > 0, changes }
}
