/** Returns the row of a task, if its executor has created one. */
import { expect } from 'vitest'
import type { LiveTask } from '../../src/core/engine/live-task.ts'
import type { ColumnarTask } from '../../src/core/columnar/columnar-task.ts'
import type { RowHandle } from '../../src/core/columnar/row-handle.ts'

export function rowOf({ executor }: Pick<LiveTask, 'executor'>): RowHandle | undefined {
  return (executor as Partial<ColumnarTask>).handle
}

/** Checks whether a task is a row; does nothing when tests run with the plain executor only. */
export function expectRow(task: LiveTask | undefined, isRow: boolean): void {
  if (process.env['EXECUTOR'] !== 'plain') expect(task && rowOf(task) !== undefined).toBe(isRow)
}
