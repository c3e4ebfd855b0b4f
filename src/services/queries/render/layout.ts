/** Builds the data set of a result in the requested layout. */
import type { Json, JsonObject, Yielder } from '#kernel'
import type { ColumnHead, DataSet, RowSet } from '../contract.ts'
import { type CellColumn, listOf } from '../execution/row-batch.ts'
import { isoTexts } from './iso-text.ts'
import { LazyList } from './json-parts.ts'
import { headersOf, type Layout, levelNames, levelsIn, type Levels } from './levels.ts'
import { objectsOf } from './objects.ts'

/** number of rows between two clock reads */
const STRIDE = 256
const ROLE: JsonObject = { role: 'input' }

export async function layOut(layout: Layout, yielder: Yielder, isLazy: boolean): Promise<DataSet> {
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
  const rowAt = (i: number): Json[] => columns.map((column) => column[i] ?? null)
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
