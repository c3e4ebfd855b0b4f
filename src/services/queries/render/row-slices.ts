/** Rows some at a time, so that each part of a text is short and the loop gets a turn between two. */
import type { Yielder } from '#kernel'
import type { RowBatch } from '../execution/row-batch.ts'

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
