/** Rows as JSON, a line each, some at a time. */
import type { Pauses } from '../execution/pauses.ts'
import type { RowBatch } from '../execution/row-batch.ts'
import type { Cell } from '../interpolation/fill.ts'

/** cells of one part, about */
const CELLS = 1_000

export async function* lineParts(
  headers: readonly string[],
  batches: AsyncIterable<RowBatch>,
  pauses: Pauses,
): AsyncGenerator<string> {
  const keys = headers.map((header) => `,${JSON.stringify(header)}:`)
  for await (const { times, cells } of batches) {
    // a row of very many columns is long
    const rows = Math.max(Math.floor(CELLS / Math.max(cells.length, 1)), 1)
    for (let from = 0; from < times.length; from += rows) {
      const until = Math.min(from + rows, times.length)
      let text = ''
      for (let i = from; i < until; i += 1) {
        text += `{"timestamp":${times[i]}`
        for (const [k, column] of cells.entries()) text += `${keys[k]}${jsonCell(column[i] ?? null)}`
        text += '}\n'
      }
      yield text
      await pauses.due()
    }
  }
}

function jsonCell(cell: Cell): string {
  return typeof cell === 'number' ? String(cell) : JSON.stringify(cell)
}
