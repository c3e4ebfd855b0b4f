/** Context of an execution, and batches of result rows as columns. */
import type { Yielder } from '#kernel'
import type { Series } from '#storage'
import type { Cell } from '../interpolation/fill.ts'
import type { ColumnPlan } from '../query/plan.ts'
import type { TimeLine } from '../time-line/time-line.ts'

export interface ExecutionOptions {
  readonly series: Series
  readonly line: TimeLine
  readonly columns: readonly ColumnPlan[]
  /** Epoch ms: later samples are excluded */
  readonly seenUntil: number | undefined
  readonly signal: AbortSignal | undefined
}

/** An array of numbers where all are numeric */
export type CellColumn = Float64Array | readonly Cell[]

export interface RowBatch {
  /** Epoch ms, ascending within and across batches */
  readonly times: Float64Array
  readonly cells: readonly CellColumn[]
}

/** Rows with plain lists as columns. */
export interface RowTable extends RowBatch {
  readonly cells: readonly (readonly Cell[])[]
}

/** Three times as fast as `Array.from`: results have thousands of rows. */
export function listOf(column: CellColumn): readonly Cell[] {
  if (!(column instanceof Float64Array)) return column
  const list: number[] = []
  for (let i = 0; i < column.length; i += 1) list.push(column[i] ?? Number.NaN)
  return list
}

/** Approximate number of cells per slice */
const CELLS = 1_000

/** Range of rows of a batch, end exclusive. */
export interface RowSlice extends RowBatch {
  readonly from: number
  readonly until: number
}

export async function* rowSlices(batches: AsyncIterable<RowBatch>, yielder: Yielder): AsyncGenerator<RowSlice> {
  for await (const { times, cells } of batches) {
    // a row of very many columns is long
    const size = Math.max(Math.floor(CELLS / Math.max(cells.length, 1)), 1)
    for (let from = 0; from < times.length; from += size) {
      yield { times, cells, from, until: Math.min(from + size, times.length) }
      await yielder.due()
    }
  }
}
