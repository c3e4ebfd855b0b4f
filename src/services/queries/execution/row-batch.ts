/** What an execution is made of, and the rows of its result, some at a time, as columns. */
import type { Yielder } from '#kernel'
import type { Series } from '#storage'
import type { Cell } from '../interpolation/fill.ts'
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

/** cells of one slice, about */
const CELLS = 1_000

/** The rows of a batch from one place up to, not including, another. */
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
