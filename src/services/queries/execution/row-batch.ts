/** Defines the context of an execution, and batches of result rows stored as columns. */
import type { Yielder } from '#kernel'
import type { Series } from '#storage'
import type { Cell } from '../interpolation/fill.ts'
import type { ColumnPlan } from '../query/plan.ts'
import type { TimeLine } from '../time-line/time-line.ts'

export interface ExecutionOptions {
  readonly series: Series
  readonly line: TimeLine
  readonly columns: readonly ColumnPlan[]
  /** epoch ms after which samples are excluded */
  readonly seenUntil: number | undefined
  readonly signal: AbortSignal | undefined
}

/** A column; an array of numbers if all cells are numbers. */
export type CellColumn = Float64Array | readonly Cell[]

export interface RowBatch {
  /** epoch ms, ascending within and across batches */
  readonly times: Float64Array
  readonly cells: readonly CellColumn[]
}

export interface RowTable extends RowBatch {
  readonly cells: readonly (readonly Cell[])[]
}

/** Three times as fast as `Array.from`, which matters for results with thousands of rows. */
export function listOf(column: CellColumn): readonly Cell[] {
  if (!(column instanceof Float64Array)) return column
  const list: number[] = []
  for (let i = 0; i < column.length; i += 1) list.push(column[i] ?? Number.NaN)
  return list
}

/** approximate number of cells per slice */
const CELLS = 1_000

export interface RowSlice extends RowBatch {
  readonly from: number
  readonly until: number
}

export async function* rowSlices(batches: AsyncIterable<RowBatch>, yielder: Yielder): AsyncGenerator<RowSlice> {
  for await (const { times, cells } of batches) {
    // with very many columns, fewer rows fit into a slice
    const size = Math.max(Math.floor(CELLS / Math.max(cells.length, 1)), 1)
    for (let from = 0; from < times.length; from += size) {
      yield { times, cells, from, until: Math.min(from + size, times.length) }
      await yielder.due()
    }
  }
}
