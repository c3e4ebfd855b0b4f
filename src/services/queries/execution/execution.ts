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
import { type Aggregate, type GroupRun, lastAtOrBefore, SampleReader, valuesOfGroups } from '#services/shared'
import { type Cell, fill } from '../interpolation/fill.ts'
import { isNumeric } from '../query/aggregations.ts'
import { type ColumnPlan, ownerOf } from '../query/plan.ts'
import type { GridRange, TimeLine } from '../time-line/time-line.ts'
import { rawRows } from './raw-rows.ts'
import { type CellColumn, type ExecutionOptions, listOf, type RowBatch, type RowTable } from './row-batch.ts'

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
      if ('lacking' in done) this.#note(column, 'error', ` cannot be interpolated: ${done.lacking}; its gaps remain`)
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

/** maximum number of series read in parallel */
const MAX_READS = 4
/** number of cells between two clock reads */
const STRIDE = 2_048

const POINTS: Aggregate = { name: 'points', needs: 'sums', of: ({ count }) => count }

/** Adds the number of samples in each column to `points`. */
async function readBuckets(
  options: ExecutionOptions & { readonly line: TimeLine },
  yielder: Yielder,
  points: number[],
): Promise<RowTable> {
  const { columns, line, signal } = options
  const { grid } = line
  if (grid === undefined) return { times: new Float64Array(), cells: [] }
  const buckets = await bucketsOf(grid, yielder)
  const cells: Cell[][] = columns.map(() => [])
  const waiting = readsOf(columns)
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      signal?.throwIfAborted()
      await readOne(options, next, { ...buckets, grid }, cells, points, yielder)
    }
  }
  await Promise.all(Array.from({ length: Math.min(MAX_READS, waiting.length) }, work))
  return { times: buckets.times, cells }
}

interface Read {
  readonly column: ColumnPlan
  readonly indexes: readonly number[]
  readonly aggregates: readonly Aggregate[]
}

function readsOf(columns: readonly ColumnPlan[]): Read[] {
  const reads = new Map<string, { column: ColumnPlan; indexes: number[]; aggregates: Aggregate[] }>()
  for (const [index, column] of columns.entries()) {
    if (column.aggregation === undefined) continue
    const key = JSON.stringify([column.resources, column.metric])
    const read = reads.get(key) ?? { column, indexes: [], aggregates: [] }
    read.indexes.push(index)
    read.aggregates.push(column.aggregation)
    reads.set(key, read)
  }
  return [...reads.values()]
}

interface Buckets {
  readonly times: Float64Array
  readonly runs: readonly GroupRun[]
}

async function readOne(
  { series, line, seenUntil, signal }: ExecutionOptions,
  { column, indexes, aggregates }: Read,
  { grid, times, runs }: Buckets & { readonly grid: GridRange },
  cells: Cell[][],
  points: number[],
  yielder: Yielder,
): Promise<void> {
  const { resources, metric } = column
  const { width } = grid.grid
  const until = Math.min(line.until - 1, seenUntil ?? Number.POSITIVE_INFINITY)
  const numberOf = (time: number): number =>
    width === undefined ? lastAtOrBefore(times, time) : Math.floor((time - line.from) / width)
  for (const index of indexes) cells[index] = Array<Cell>(times.length).fill(null)
  if (until < line.from) return
  const found = await valuesOfGroups(new SampleReader(series, { ahead: true, ...(signal && { signal }) }), {
    aggregates: [...aggregates, POINTS],
    groups: {
      runs: runs.filter(({ from }) => from <= until),
      startOf: (time) => times[numberOf(time)] ?? Number.NEGATIVE_INFINITY,
    },
    span: { resources, metric, from: line.from, until },
  })
  let done = 0
  for (const [start, values] of found) {
    const row = numberOf(start)
    for (const [i, index] of indexes.entries()) {
      const column = cells[index]
      if (column !== undefined) column[row] = values[i] ?? null
      points[index] = (points[index] ?? 0) + Number(values.at(-1) ?? 0)
    }
    done += 1
    if (done % STRIDE === 0) await yielder.due()
  }
}

async function bucketsOf({ grid, first, count }: GridRange, yielder: Yielder): Promise<Buckets> {
  const times = new Float64Array(count)
  for (let i = 0; i < count; i += 1) {
    times[i] = grid.beginOf(first + i)
    if (i % STRIDE === STRIDE - 1) await yielder.due()
  }
  const [from = 0] = times
  if (grid.width !== undefined) return { times, runs: [{ from, width: grid.width, count }] }
  const runs: GroupRun[] = []
  for (const [i, start] of times.entries()) {
    const width = (times[i + 1] ?? grid.beginOf(first + count)) - start
    const last = runs.at(-1)
    if (last?.width === width) runs[runs.length - 1] = { ...last, count: last.count + 1 }
    else runs.push({ from: start, width, count: 1 })
  }
  return { times, runs }
}
