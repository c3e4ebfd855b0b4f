/** Rows as JSON, a line each, some at a time. */
import type { Yielder } from '#kernel'
import type { RowBatch } from '../execution/row-batch.ts'
import type { Cell } from '../interpolation/fill.ts'
import { rowSlices } from './row-slices.ts'

export async function* lineParts(
  headers: readonly string[],
  batches: AsyncIterable<RowBatch>,
  yielder: Yielder,
): AsyncGenerator<string> {
  const keys = headers.map((header) => `,${JSON.stringify(header)}:`)
  for await (const { times, cells, from, until } of rowSlices(batches, yielder)) {
    let text = ''
    for (let i = from; i < until; i += 1) {
      text += `{"timestamp":${times[i]}`
      for (const [k, column] of cells.entries()) text += `${keys[k]}${jsonCell(column[i] ?? null)}`
      text += '}\n'
    }
    yield text
  }
}

function jsonCell(cell: Cell): string {
  return typeof cell === 'number' ? String(cell) : JSON.stringify(cell)
}
