/** What a layout is made of. */
import type { WindowSpec } from '../contract.ts'
import type { RowTable } from '../execution/row-batch.ts'
import type { ColumnPlan } from '../query/plan.ts'
import type { RenderOptions } from './render-modes.ts'

export interface Layout {
  readonly columns: readonly ColumnPlan[]
  readonly table: RowTable
  readonly options: RenderOptions
  readonly windowSpec: WindowSpec
  readonly zone: string | undefined
}
