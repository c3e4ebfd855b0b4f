/** Executes one query, from the request to its result. */
import { AppError, isPlainObject, type Json, type JsonObject, makeIssue, ownValue, refuse, type Yielder } from '#kernel'
import { machineTimers } from '#platform'
import { NDJSON_MEDIA_TYPE } from '#services/shared'
import type { Store } from '#storage'
import type {
  ColumnHead,
  DataSet,
  ExecuteOptions,
  Explanation,
  OpenedResult,
  OpenOptions,
  QueryMessage,
  QueryResult,
  ResourceSelector,
  RowSet,
} from '../contract.ts'
import type { Cell } from '../interpolation/fill.ts'
import { expand } from '../query/expand.ts'
import { type ColumnPlan, ownerOf, type QueryPlan } from '../query/plan.ts'
import { ONE_RESOURCE, readQuery } from '../query/read-query.ts'
import { arrowParts } from '../render/arrow.ts'
import { csvParts } from '../render/csv-parts.ts'
import { jsonParts, LazyList } from '../render/json-parts.ts'
import { headersOf, isoTexts, type Layout, levelNames, type Levels, levelsIn, objectsOf } from '../render/objects.ts'
import { windowSpecOf } from '../time-line/time-line.ts'
import { collect, Execution, type Note } from './execution.ts'
import { type CellColumn, listOf, type RowBatch, rowSlices } from './row-batch.ts'

export interface RunDependencies {
  readonly store: Store
  readonly now: () => number
  readonly resources: () => ResourceSelector | undefined
  readonly readable: () => Promise<void>
  readonly yielder: Yielder
}

export interface Run {
  readonly plan: QueryPlan
  readonly columns: readonly ColumnPlan[]
  readonly execution: Execution
  readonly yielder: Yielder
  readonly batches: AsyncIterable<RowBatch>
  readonly messages: () => readonly QueryMessage[]
  readonly planTook: number
}

/** Parses and plans a query; series are read when batches are requested. */
export async function begin(
  { store, now, resources, readable, yielder }: RunDependencies,
  query: unknown,
  options: ExecuteOptions,
): Promise<Run> {
  const began = machineTimers.elapsed()
  const { overrides, signal, now: requestedTime, resource } = options
  const at = requestedTime ?? now()
  const plan = readQuery({ query: aboutResource(query, resource), ...(overrides && { overrides }), now: at })
  const { columns, notes } = await expand(plan.series, resources())
  if (plan.render.upload && new Set(columns.map(ownerOf)).size > 1) {
    throw refuse('the query', [makeIssue('QUERY', '/render', ONE_RESOURCE, 'request one resource, or another mode')])
  }
  await readable().catch((error: unknown) => {
    throw asDataError(error)
  })
  signal?.throwIfAborted()
  const seenUntil = requestedTime === undefined ? undefined : requestedTime - 1
  const execution = new Execution({ series: store.series, line: plan.line, columns, seenUntil, signal }, yielder)
  const planned: readonly Note[] = [...plan.notes, ...notes].map((text) => ({ level: 'info', text }))
  const messages = (): readonly QueryMessage[] =>
    [...planned, ...execution.notes].map((note) => messageOf(note, at, options.action ?? 'execute'))
  const planTook = machineTimers.elapsed() - began
  return { plan, columns, execution, yielder, batches: reading(execution), messages, planTook }
}

function aboutResource(query: unknown, resource: string | undefined): unknown {
  if (resource === undefined || !isPlainObject(query)) return query
  const isAbout = ['resource', 'resources'].some((name) => ownValue(query, name) !== undefined)
  return isAbout ? query : { ...query, resource }
}

/** Builds the result. `isLazy`: rows are produced while `jsonParts` writes them. */
export async function resultOf(run: Run, isExplained: boolean, isLazy = false): Promise<QueryResult> {
  const { plan, columns, execution, yielder, batches, messages, planTook } = run
  const table = await collect(batches, columns.length)
  const since = machineTimers.elapsed()
  const windowSpec = windowSpecOf(plan.line)
  const { zone } = plan.line
  const set = await layOut({ columns, table, options: plan.render, windowSpec, zone }, yielder, isLazy)
  const render = machineTimers.elapsed() - since
  return {
    messages: messages(),
    query: plan.query,
    data: [set],
    ...(isExplained && { explain: explanationOf(run, { plan: planTook, ...execution.took, render }) }),
  }
}

export async function openRun(
  run: Run,
  { format, csv, explain: isExplained = false }: OpenOptions,
): Promise<OpenedResult> {
  const { plan, columns, yielder, batches, messages } = run
  const headers = headersOf(columns)
  const form = format ?? (plan.render.csv ? 'csv' : 'json')
  const type = TYPES[form]
  if (form === 'json') return { type, parts: jsonParts(await resultOf(run, isExplained, true), yielder), messages: [] }
  const parts: AsyncIterable<string | Uint8Array> =
    form === 'csv'
      ? csvParts(headers, batches, yielder, csv === 'safe')
      : form === 'ndjson'
        ? lineParts(headers, batches, yielder)
        : arrowParts(headers, batches)
  // the notes are complete once the first rows exist
  const { all } = await begun(parts)
  return { type, parts: all, messages: messages() }
}

export const ARROW_MEDIA_TYPE = 'application/vnd.apache.arrow.stream'
const TYPES = {
  json: 'application/json; charset=utf-8',
  csv: 'text/csv; charset=utf-8',
  ndjson: NDJSON_MEDIA_TYPE,
  arrow: ARROW_MEDIA_TYPE,
} as const

/** Produces the first two parts in advance, so that errors occur before the response begins. */
export async function begun<T>(
  parts: AsyncIterable<T>,
): Promise<{ readonly first: readonly T[]; readonly all: AsyncGenerator<T> }> {
  const iterator = parts[Symbol.asyncIterator]()
  const first: T[] = []
  for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
    first.push(next.value)
    if (first.length === 2) break
  }
  const all = async function* () {
    try {
      yield* first
      for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) yield next.value
    } finally {
      await iterator.return?.()
    }
  }
  return { first, all: all() }
}

async function* reading(execution: Execution): AsyncGenerator<RowBatch> {
  try {
    yield* execution.batches()
  } catch (error) {
    throw asDataError(error)
  }
}

function asDataError(error: unknown): unknown {
  if (!(error instanceof AppError) || error.code !== 'STORE') return error
  return new AppError('DATA', 'the data of the query cannot be read at the moment', { cause: error })
}

function messageOf({ text, level, properties }: Note, at: number, action: string): QueryMessage {
  const timestamp = new Date(at).toISOString()
  return { message: text, level, timestamp, action, category: 'data', ...(properties && { properties }) }
}

function explanationOf({ plan, columns, execution }: Run, time: Explanation['time']): Explanation {
  const count = plan.line.grid?.count ?? 0
  const sum = (list: readonly number[]): number => list.reduce((all, one) => all + one, 0)
  return {
    window_spec: windowSpecOf(plan.line),
    pointsRead: sum(execution.points),
    buckets: count * columns.length,
    emptyBuckets: sum(execution.empty),
    time,
    series: columns.map(({ label, metric, aggregation, interpolation, resources, name }, i): JsonObject => ({
      ...(name !== undefined && { name }),
      ...label,
      metric,
      ...(aggregation && { aggregation: aggregation.name }),
      ...(interpolation && { interpolation: interpolation.method }),
      ...('group' in label && { resources: resources.length }),
      points: execution.points[i] ?? 0,
      ...(count > 0 && { emptyBuckets: execution.empty[i] ?? 0 }),
    })),
  }
}

async function* lineParts(
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

/** number of rows between two clock reads */
const STRIDE = 256
const ROLE: JsonObject = { role: 'input' }

/** Builds the data set of a result in the requested layout. */
async function layOut(layout: Layout, yielder: Yielder, isLazy: boolean): Promise<DataSet> {
  const { options, columns } = layout
  const { header_array: heads, data_axis: axis = 'column', row_key: rowKey = 'data' } = options
  if (heads === undefined) return objectsOf(layout, yielder)
  const { levels, common } = levelsIn(layout)
  const index = await indexOf(layout, yielder)
  const isRow = heads === 'row'
  return {
    [options.column_key ?? (isRow ? 'columns' : 'rows')]: isRow
      ? headsInRow(index, levels)
      : headsInColumn(layout, index, levels),
    ['column_names' as string]: [...(isRow ? index.map(([name]) => name) : []), ...headersOf(columns)],
    [rowKey]:
      axis === 'row' ? seriesOf(layout, index, levels) : await rowsOf(layout, index, isLazy ? undefined : yielder),
    data_axis: axis,
    attributes: { ...ROLE, ...common },
    ...(options.include_window_spec && { window_spec: layout.windowSpec }),
  } as RowSet
}

type Index = readonly (readonly [name: string, values: CellColumn])[]

async function indexOf({ table, options, zone }: Layout, yielder: Yielder): Promise<Index> {
  const { times } = table
  if (!options.iso_timestamp) return [['timestamp', times]]
  const textOf = isoTexts(zone)
  const texts: string[] = []
  for (const [i, time] of times.entries()) {
    texts.push(textOf(time))
    if (i % STRIDE === 0) await yielder.due()
  }
  return [
    ['timestamp', times],
    ['timestamp_iso', texts],
  ]
}

function headsInRow(index: Index, levels: readonly Levels[]): readonly ColumnHead[] {
  return [...index.map(([name]) => name), ...levels.map((one) => Object.fromEntries(one))]
}

function headsInColumn({ table }: Layout, index: Index, levels: readonly Levels[]): readonly Json[] {
  const times = Array.from(table.times, (_, i) =>
    Object.fromEntries(index.map(([name, values]) => [name, values[i] ?? null])),
  )
  return [...levelNames(levels), ...times]
}

/** Builds the rows. Without a yielder, returns a list whose rows are created while it is written. */
async function rowsOf({ table }: Layout, index: Index, yielder?: Yielder): Promise<readonly Json[][] | LazyList> {
  const columns = [...index.map(([, values]) => values), ...table.cells]
  const rowAt = (i: number): Json[] => {
    const row: Json[] = []
    // a callback per cell would take a third of the time of long results
    for (const column of columns) row.push(column[i] ?? null)
    return row
  }
  if (yielder === undefined) return new LazyList(table.times.length, rowAt)
  const rows: Json[][] = []
  for (let i = 0; i < table.times.length; i += 1) {
    rows.push(rowAt(i))
    if (i % STRIDE === 0) await yielder.due()
  }
  return rows
}

/** Builds one row per series. With headers in columns, rows begin with the levels, and the times are in the header. */
function seriesOf({ table, options }: Layout, index: Index, levels: readonly Levels[]): readonly (readonly Json[])[] {
  if (options.header_array === 'row') return [...index.map(([, values]) => values), ...table.cells].map(listOf)
  const names = levelNames(levels)
  return table.cells.map((cells, i) => [...names.map((name) => levels[i]?.get(name) ?? null), ...listOf(cells)])
}
