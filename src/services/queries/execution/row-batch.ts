/** Rows of a result, some at a time, as columns. */
import type { Cell } from '../interpolation/fill.ts'

export interface RowBatch {
  /** epoch ms, rising, also from batch to batch */
  readonly times: Float64Array
  /** for each column of the result one cell a row */
  readonly cells: readonly (readonly Cell[])[]
}
