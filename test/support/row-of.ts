/** The row of a task, as far as its executor has given it one. */
import type { LiveTask } from '../../src/core/engine/live-task.ts'
import type { ColumnarTask } from '../../src/core/quiet/columnar-task.ts'
import type { Seat } from '../../src/core/quiet/seat.ts'

export function rowOf({ executor }: Pick<LiveTask, 'executor'>): Seat | undefined {
  return (executor as Partial<ColumnarTask>).seat
}
