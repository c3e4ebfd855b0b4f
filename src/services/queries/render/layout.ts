/** The data set of a result, in the layout that was asked for. */
import type { Json, JsonObject, Yielder } from '#kernel'
import type { ColumnHead, DataSet, RowSet } from '../contract.ts'
import { numberList } from '../execution/row-batch.ts'
import { headersOf } from './headers.ts'
import { isoTexts } from './iso-text.ts'
import { levelNames, levelsOf, rollUp, type Levels } from './levels.ts'
import { objectsOf } from './objects.ts'
import type { Layout } from './layout-request.ts'

/** rows between two looks at the clock */
const STRIDE = 256
const ROLE: JsonObject = { role: 'input' }

export async function layOut(layout: Layout, yielder: Yielder): Promise<DataSet> {
  const { options, columns } = layout
  if (options.headerArray === undefined) return objectsOf(layout, yielder)
  const all = levelsOf(columns)
  const { levels, common } = options.rollUp ? rollUp(all) : { levels: all, common: {} }
  const index = await indexOf(layout, yielder)
  const heads = options.headerArray === 'row' ? headsInRow(index, levels) : headsInColumn(layout, index, levels)
  const data = options.dataAxis === 'row' ? seriesOf(layout, index, levels) : await rowsOf(layout, index, yielder)
  const { rowKey = 'data', columnKey = options.headerArray === 'row' ? 'columns' : 'rows' } = options
  const names = [...(options.headerArray === 'row' ? index.map(([name]) => name) : []), ...headersOf(columns)]
  return {
    [columnKey]: heads,
    ['column_names' as string]: names,
    [rowKey]: data,
    data_axis: options.dataAxis ?? 'column',
    attributes: { ...ROLE, ...common },
    ...(options.includeWindowSpec && { window_spec: layout.windowSpec }),
  } as RowSet
}

/** The index columns: times, and their texts. */
type Index = readonly (readonly [name: string, values: readonly Json[]])[]

async function indexOf({ table, options, zone }: Layout, yielder: Yielder): Promise<Index> {
  const times = numberList(table.times)
  if (!options.isoTimestamp) return [['timestamp', times]]
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

/** Names of the levels, then the index of each row. */
function headsInColumn({ table }: Layout, index: Index, levels: readonly Levels[]): readonly Json[] {
  const times = Array.from(table.times, (_, i) =>
    Object.fromEntries(index.map(([name, values]) => [name, values[i] ?? null])),
  )
  return [...levelNames(levels), ...times]
}

async function rowsOf({ table }: Layout, index: Index, yielder: Yielder): Promise<readonly (readonly Json[])[]> {
  const columns = [...index.map(([, values]) => values), ...table.cells]
  const rows: Json[][] = []
  for (let i = 0; i < table.times.length; i += 1) {
    const row: Json[] = []
    for (const column of columns) row.push(column[i] ?? null)
    rows.push(row)
    if (i % STRIDE === 0) await yielder.due()
  }
  return rows
}

/** A row for each series; with heads in columns they begin with its levels, and times stand with the heads. */
function seriesOf({ table, options }: Layout, index: Index, levels: readonly Levels[]): readonly (readonly Json[])[] {
  if (options.headerArray === 'row') return [...index.map(([, values]) => values), ...table.cells]
  const names = levelNames(levels)
  return table.cells.map((cells, i) => [...names.map((name) => levels[i]?.get(name) ?? null), ...cells])
}
