/** What an execution is made of. */
import type { Series } from '#storage'
import type { ColumnPlan } from '../query/plan.ts'
import type { TimeLine } from '../time-line/time-line.ts'

export interface ExecutionOptions {
  readonly series: Series
  readonly line: TimeLine
  readonly columns: readonly ColumnPlan[]
  /** epoch ms: samples behind it are not seen */
  readonly seenUntil: number | undefined
  readonly signal: AbortSignal | undefined
}
