/** The record of a task after each change. Times are epoch ms. */
import type { TaskInfo } from '#core'
import type { TaskRunRecord } from './task-schema.ts'
import type { TaskRecord } from './task-record.ts'
import type { Draft } from './task-maker.ts'

const RUNS_KEPT = 20

export function newRecord(id: string, user: string, now: number, draft: Draft): TaskRecord {
  return {
    id,
    user,
    createTime: now,
    ...draft.fields,
    status: 'stopped',
    epoch: 0,
    resourceIds: [],
    invocationCount: 0,
    runs: [],
  }
}

/** Replaces the parts and keeps the history. */
export function withDraft(task: TaskRecord, draft: Draft, now: number): TaskRecord {
  const { template: _t, templateVersion: _v, source: _s, rule: _r, ...kept } = task
  return { ...kept, ...draft.fields, lastUpdateTime: now }
}

export function begun(task: TaskRecord, now: number, resourceIds: readonly string[]): TaskRecord {
  const { error: _error, finishedTime: _finished, ...kept } = task
  const epoch = task.epoch + 1
  const run: TaskRunRecord = { run: epoch, startTime: now, status: 'running' }
  return {
    ...kept,
    epoch,
    status: 'running',
    startTime: now,
    resourceIds,
    runs: [run, ...task.runs].slice(0, RUNS_KEPT),
  }
}

/** `info`: counts of the run, if known. */
export function ended(
  task: TaskRecord,
  outcome: { readonly status: 'stopped' | 'failed'; readonly finishedTime: number; readonly error?: string },
  info: TaskInfo | undefined,
): TaskRecord {
  const { status, finishedTime, error } = outcome
  const [last, ...older] = task.runs
  const lastExecutionTime = info?.lastExecutionTime ?? task.lastExecutionTime
  return {
    ...task,
    status,
    finishedTime,
    ...(error !== undefined && { error }),
    ...(lastExecutionTime !== undefined && { lastExecutionTime }),
    invocationCount: task.invocationCount + (info?.invocationCount ?? 0),
    runs:
      last === undefined || task.status !== 'running'
        ? task.runs
        : [{ ...last, finishedTime, status, ...(error !== undefined && { error }) }, ...older],
  }
}

export function failedToStart(task: TaskRecord, now: number, error: string): TaskRecord {
  return { ...task, status: 'failed', finishedTime: now, error }
}
