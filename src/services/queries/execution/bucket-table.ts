/** Reads the buckets of all columns. Columns of the same series share a read; a few series are read in parallel. */
import { type Aggregate, type GroupRun, lastAtOrBefore, SampleReader, valuesOfGroups } from '#services/shared'
import type { Cell } from '../interpolation/fill.ts'
import type { ColumnPlan } from '../query/plan.ts'
import type { GridRange, TimeLine } from '../time-line/time-line.ts'
import type { Yielder } from '#kernel'
import type { ExecutionOptions, RowTable } from './row-batch.ts'

/** most series read in parallel */
const MAX_READS = 4
/** number of cells between two clock reads */
const STRIDE = 2_048

const POINTS: Aggregate = { name: 'points', needs: 'sums', of: ({ count }) => count }

/** Adds the number of samples in each column to `points`. */
export async function readBuckets(
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
