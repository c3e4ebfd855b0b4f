/** Runs operations on many tasks as jobs. */
import { type Job, type JobHandler, itemHandler } from '#jobs'
import { type BatchEntry, type BatchOperation, type TaskAction, removes } from './batch-schema.ts'
import type { TenantRules } from '../tenant-rules.ts'
import { AppError } from '#kernel'
import { documentChanges } from '../document-changes.ts'
import { refusalText } from '../error-body.ts'
import { noTaskWithId } from '../error-texts.ts'
import type { Draft } from '../tasks/task-maker.ts'
import type { TaskRecord } from '../tasks/task-record.ts'
import type { DocumentChange, TaskPreview } from '../tasks/task-schema.ts'

export const BATCH_JOB = 'rules.batch'

export interface BatchData {
  readonly operation: BatchOperation
  readonly action: TaskAction
  readonly missing: readonly string[]
}

const BATCH_SIZE = 200
const SLICE = 25
const ATTEMPTS = 10
const KEPT_MS = 7 * 86_400_000

/** Handles items that are task ids. */
export function batchHandler(rulesOf: () => TenantRules): JobHandler {
  return itemHandler<string>({
    type: BATCH_JOB,
    isSerial: true,
    attempts: ATTEMPTS,
    keepMs: KEPT_MS,
    batchSize: BATCH_SIZE,
    slice: SLICE,
    item: (id, { job }, isRepeat) => act(rulesOf(), id, batchData(job).action, job.id, isRepeat, job.user),
  })
}

export function batchData({ data }: Job): BatchData {
  return data as BatchData
}

const DONE: BatchEntry = { statusCode: 200 }

/** A failure is never an error of the batch. `again`: the action may already be done, and then counts as done. */
export async function act(
  { changes, collections }: TenantRules,
  id: string,
  action: TaskAction,
  batch: string,
  again: boolean,
  user?: string,
): Promise<BatchEntry> {
  try {
    if (again) {
      const stored = await collections.tasks.get(id)
      if (stored === undefined ? removes(action) : stored.value.batch === batch) return DONE
    }
    await changes.act(id, action, { batch, ...(user !== undefined && { by: { user } }) })
    return DONE
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error
    return entryOf(error.code === 'NOT_FOUND' ? noTaskWithId(id) : error)
  }
}

export function entryOf(error: AppError): BatchEntry {
  return { statusCode: error.status, error: refusalText(error) }
}

export function preview(rules: TenantRules, task: TaskRecord, action: TaskAction): Promise<TaskPreview> {
  return previewOf(task, () => outcome(rules, task, action))
}

export function previewReplacement(rules: TenantRules, task: TaskRecord, specification: unknown): Promise<TaskPreview> {
  return previewOf(task, async () => draftOutcome(rules, task, await rules.maker.make(specification, {})))
}

export function previewRestore(rules: TenantRules, task: TaskRecord, version: TaskRecord): Promise<TaskPreview> {
  return previewOf(task, async () => draftOutcome(rules, task, rules.maker.restored(version, version.rights)))
}

async function previewOf({ id: ID, name }: TaskRecord, outcome: () => Promise<Outcome>): Promise<TaskPreview> {
  try {
    return { ID, name, ...(await outcome()) }
  } catch (error) {
    if (!(error instanceof AppError) || error.status >= 500) throw error
    return { ID, name, changed: false, changes: [], error: refusalText(error) }
  }
}

type Outcome = Omit<TaskPreview, 'ID' | 'name'>

async function outcome(rules: TenantRules, task: TaskRecord, action: TaskAction): Promise<Outcome> {
  if (action.action !== 'reload' && action.action !== 'updatePlugins' && action.action !== 'updateProperties') {
    const next = await rules.changes.after(task, action)
    return changing([
      next === undefined
        ? { path: '', from: { ID: task.id } }
        : { path: '/status', from: task.status, to: next.status },
    ])
  }
  return draftOutcome(rules, task, await rules.maker.updated(task, action))
}

async function draftOutcome({ changes, show }: TenantRules, task: TaskRecord, draft: Draft): Promise<Outcome> {
  const before = { ...(await show.rule(task)), settings: task.effective }
  const { sensors = [], actuators = [], relations = [], triggers = [], notes = [] } = draft.prepared.rule
  const after = { sensors, actuators, relations, triggers, notes, settings: draft.fields.effective }
  const effect = await changes.effect(task, draft)
  const { templateVersion } = draft.fields
  return {
    ...changing(documentChanges(before, after)),
    ...(templateVersion !== undefined && { templateVersion }),
    ...(effect && { lost: effect.lost }),
  }
}

function changing(changes: readonly DocumentChange[]): Outcome {
  return { changed: changes.length > 0, changes }
}
