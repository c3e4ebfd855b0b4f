/** Rows of a result, some at a time, as columns. */
import type { Cell } from '../interpolation/fill.ts'

/** an array of numbers where all are */
export type CellColumn = Float64Array | readonly Cell[]

export interface RowBatch {
  /** epoch ms, rising, also from batch to batch */
  readonly times: Float64Array
  /** for each column of the result one cell a row */
  readonly cells: readonly CellColumn[]
}

/** Rows whose columns are lists, as JSON has them. */
export interface RowTable extends RowBatch {
  readonly cells: readonly (readonly Cell[])[]
}

/** A third of what `Array.from` takes: results have thousands of rows. */
export function numberList(values: Float64Array): number[] {
  const list: number[] = []
  for (let i = 0; i < values.length; i += 1) list.push(values[i] ?? Number.NaN)
  return list
}
