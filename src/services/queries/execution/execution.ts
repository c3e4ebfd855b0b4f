/**
 * Executes a plan: reads samples or buckets, interpolates, and yields batches of rows.
 *
 * EXECUTE-1 rows come in order of time; a row contains the cells of all columns with a sample at its time
 * EXECUTE-2 without frequency and interpolation only a few pages are in memory; otherwise the number of cells is
 *   limited, and a query beyond the limit is rejected
 * EXECUTE-3 when the signal aborts, nothing more is read
 */
import { AppError, type JsonObject, type Yielder } from '#kernel'
import { machineTimers } from '#platform'
import { isNumeric } from '../query/aggregations.ts'
import { ownerOf, type ColumnPlan } from '../query/plan.ts'
import { fill, type Cell } from '../interpolation/fill.ts'
import { readBuckets } from './bucket-table.ts'
import { rawRows } from './raw-rows.ts'
import { listOf, type CellColumn, type ExecutionOptions, type RowBatch, type RowTable } from './row-batch.ts'

export interface Note {
  readonly text: string
  readonly level: 'info' | 'warning' | 'error'
  readonly properties?: JsonObject
}

export const MAX_CELLS = 2_000_000

export class Execution {
  readonly #options: ExecutionOptions
  readonly #yielder: Yielder
  readonly notes: Note[] = []
  readonly points: number[]
  readonly empty: number[]
  readonly took = { read: 0, interpolate: 0 }

  constructor(options: ExecutionOptions, yielder: Yielder) {
    this.#options = options
    this.#yielder = yielder
    this.points = options.columns.map(() => 0)
    this.empty = options.columns.map(() => 0)
  }

  /** Yields the batches; may be called once. */
  async *batches(): AsyncGenerator<RowBatch> {
    const { columns, line } = this.#options
    if (columns.length === 0) return
    if (line.grid !== undefined) {
      yield await this.#buckets()
    } else if (columns.some(({ interpolation }) => interpolation !== undefined)) {
      const { times, cells } = await collect(this.#raw(), columns.length)
      const whole = { times, cells: cells.map(listOf) }
      await this.#fill(whole)
      yield whole
    } else {
      yield* this.#raw()
    }
  }

  async *#raw(): AsyncGenerator<RowBatch> {
    const { signal } = this.#options
    let since = machineTimers.elapsed()
    for await (const batch of rawRows(this.#options, this.points)) {
      this.took.read += machineTimers.elapsed() - since
      signal?.throwIfAborted()
      yield batch
      since = machineTimers.elapsed()
    }
  }

  async #buckets(): Promise<RowTable> {
    const { columns, line } = this.#options
    const count = line.grid?.count ?? 0
    if (count * columns.length > MAX_CELLS) {
      throw new AppError(
        'TOO_LARGE',
        `${count} buckets of ${columns.length} series exceed the limit of ${MAX_CELLS} values`,
      )
    }
    const since = machineTimers.elapsed()
    const table = await readBuckets(this.#options, this.#yielder, this.points)
    this.took.read += machineTimers.elapsed() - since
    this.#describe(table)
    await this.#fill(table)
    return table
  }

  #describe({ cells }: RowTable): void {
    const { columns, line } = this.#options
    for (const [i, column] of columns.entries()) {
      const missing = (cells[i] ?? []).reduce<number>((sum, cell) => sum + (cell === null ? 1 : 0), 0)
      this.empty[i] = missing
      const { aggregation, interpolation } = column
      if (missing === 0 || aggregation === undefined) continue
      if (missing === cells[i]?.length && (this.points[i] ?? 0) > 0 && isNumeric(aggregation.name)) {
        this.#note(column, 'warning', ` has no numbers: ${aggregation.name} ignores texts and booleans`)
      } else if (interpolation === undefined) {
        const freq = line.grid?.grid.text ?? ''
        const text = `, aggregated on freq ${freq} contains ${missing} null values. These will NOT be interpolated`
        this.#note(column, 'warning', text)
      }
    }
  }

  #note(column: ColumnPlan, level: Note['level'], text: string): void {
    const properties = { resource: ownerOf(column), metric: column.metric }
    this.notes.push({ level, text: `Series ${seriesText(column)}${text}`, properties })
  }

  async #fill({ times, cells }: RowTable): Promise<void> {
    const { columns, signal } = this.#options
    const since = machineTimers.elapsed()
    for (const [i, column] of columns.entries()) {
      if (column.interpolation === undefined) continue
      await this.#yielder.due()
      signal?.throwIfAborted()
      const done = fill(times, (cells[i] ?? []) as Cell[], column.interpolation)
      if ('lacking' in done)
        this.#note(column, 'error', ` cannot be interpolated: ${done.lacking}. It is left as it is`)
    }
    this.took.interpolate += machineTimers.elapsed() - since
  }
}

function seriesText(column: ColumnPlan): string {
  const parts = [ownerOf(column), column.metric, ...(column.aggregation === undefined ? [] : [column.aggregation.name])]
  return `(${parts.map((part) => `'${part}'`).join(', ')})`
}

export async function collect(batches: AsyncIterable<RowBatch>, columns: number): Promise<RowBatch> {
  const all: RowBatch[] = []
  let rows = 0
  for await (const batch of batches) {
    all.push(batch)
    rows += batch.times.length
    if (rows * columns > MAX_CELLS) {
      const text = `the result has more than ${MAX_CELLS} values`
      throw new AppError('TOO_LARGE', `${text}; request a shorter range, a freq, or CSV, NDJSON or Arrow`)
    }
  }
  const [only] = all
  if (all.length === 1 && only !== undefined) return only
  const times = joined(
    all.map((batch) => batch.times),
    rows,
  )
  const cells = Array.from({ length: columns }, (_, i): CellColumn => {
    const parts = all.map((batch) => batch.cells[i] ?? [])
    return parts.every((part) => part instanceof Float64Array) ? joined(parts, rows) : parts.flatMap(listOf)
  })
  return { times, cells }
}

function joined(parts: readonly Float64Array[], length: number): Float64Array {
  const whole = new Float64Array(length)
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
