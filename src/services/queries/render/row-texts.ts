/** Rows as text, some at a time: CSV, and JSON line by line. */
import type { Pauses } from '../execution/pauses.ts'
import type { RowBatch } from '../execution/row-batch.ts'
import type { Cell } from '../interpolation/fill.ts'
import { csvTexts } from './iso-text.ts'

/** rows of one part */
const ROWS = 1_000

export async function* csvParts(
  headers: readonly string[],
  batches: AsyncIterable<RowBatch>,
  pauses: Pauses,
): AsyncGenerator<string> {
  const textOf = csvTexts()
  yield `${['timestamp', ...headers].map(csvText).join(',')}\r\n`
  yield* parts(batches, pauses, ({ times, cells }, from, until) => {
    let text = ''
    const [only] = cells
    if (only !== undefined && cells.length === 1) {
      for (let i = from; i < until; i += 1) text += `${textOf(times[i] ?? 0)},${csvCell(only[i] ?? null)}\r\n`
      return text
    }
    for (let i = from; i < until; i += 1) {
      text += textOf(times[i] ?? 0)
      for (const column of cells) text += `,${csvCell(column[i] ?? null)}`
      text += '\r\n'
    }
    return text
  })
}

export async function* lineParts(
  headers: readonly string[],
  batches: AsyncIterable<RowBatch>,
  pauses: Pauses,
): AsyncGenerator<string> {
  const keys = headers.map((header) => `,${JSON.stringify(header)}:`)
  yield* parts(batches, pauses, ({ times, cells }, from, until) => {
    let text = ''
    for (let i = from; i < until; i += 1) {
      text += `{"timestamp":${times[i]}`
      for (const [k, column] of cells.entries()) text += `${keys[k]}${jsonCell(column[i] ?? null)}`
      text += '}\n'
    }
    return text
  })
}

async function* parts(
  batches: AsyncIterable<RowBatch>,
  pauses: Pauses,
  textOf: (batch: RowBatch, from: number, until: number) => string,
): AsyncGenerator<string> {
  for await (const batch of batches) {
    const count = batch.times.length
    // a row of very many columns is long
    const rows = Math.max(Math.floor(ROWS / Math.max(batch.cells.length, 1)), 1)
    for (let from = 0; from < count; from += rows) {
      yield textOf(batch, from, Math.min(from + rows, count))
      await pauses.due()
    }
  }
}

function jsonCell(cell: Cell): string {
  return typeof cell === 'number' ? String(cell) : JSON.stringify(cell)
}

function csvCell(cell: Cell): string {
  if (typeof cell === 'number') return `${cell}`
  if (cell === null) return ''
  return typeof cell === 'string' ? csvText(cell) : String(cell)
}

/** What begins as a formula stays text in a spreadsheet only in quotes, which is as much as CSV can say. */
function csvText(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
