/** Determines the levels that identify columns: resource or group, metric, aggregation, and a name where needed. */
import type { JsonObject } from '#kernel'
import type { WindowSpec } from '../contract.ts'
import type { RowBatch } from '../execution/row-batch.ts'
import { type ColumnPlan, ownerOf } from '../query/plan.ts'
import type { RenderOptions } from './render-modes.ts'

export interface Layout {
  readonly columns: readonly ColumnPlan[]
  readonly table: RowBatch
  readonly options: RenderOptions
  readonly windowSpec: WindowSpec
  readonly zone: string | undefined
}

export type Levels = ReadonlyMap<string, string>

const ORDER = ['resource', 'group', 'metric', 'aggregation', 'name']

function levelsOf(columns: readonly ColumnPlan[]): readonly Levels[] {
  const bare = columns.map((column) => new Map(entriesOf(column)))
  const seen = new Map<string, number>()
  const keys = bare.map((levels) => JSON.stringify([...levels]))
  for (const key of keys) seen.set(key, (seen.get(key) ?? 0) + 1)
  return bare.map((levels, i) => {
    const name = columns[i]?.name
    const isShared = (seen.get(keys[i] ?? '') ?? 0) > 1
    return isShared && name !== undefined ? new Map([...levels, ['name', name]]) : levels
  })
}

function entriesOf({ label, metric, aggregation }: ColumnPlan): (readonly [string, string])[] {
  const owner = Object.entries(label)[0] ?? ['resource', '']
  return [owner, ['metric', metric], ...(aggregation === undefined ? [] : [['aggregation', aggregation.name] as const])]
}

export function levelNames(all: readonly Levels[]): readonly string[] {
  return ORDER.filter((name) => all.some((levels) => levels.has(name)))
}

export interface RolledUp {
  readonly levels: readonly Levels[]
  readonly common: JsonObject
}

/** Returns the levels. With roll-up, levels that all columns share are moved out, but at least one stays. */
export function levelsIn({ columns, options }: Layout): RolledUp {
  const all = levelsOf(columns)
  if (!options.roll_up) return { levels: all, common: {} }
  const names = levelNames(all)
  const single = names.filter((name) => new Set(all.map((levels) => levels.get(name))).size === 1)
  const moved = single.length === names.length ? single.slice(0, -1) : single
  const common = Object.fromEntries(moved.map((name) => [name, all[0]?.get(name) ?? null]))
  const levels = all.map((one) => new Map([...one].filter(([name]) => !moved.includes(name))))
  return { levels, common }
}

/** Its name, or `resource/metric` or `resource/metric/aggregation`; duplicates are numbered. */
export function headersOf(columns: readonly ColumnPlan[]): readonly string[] {
  const known = new Map<string, number>([['timestamp', 1]])
  return columns.map((column) => {
    const { name, metric, aggregation } = column
    // a name is used only if it belongs to a single series
    const unique = name !== undefined && columns.filter((other) => other.name === name).length === 1 ? name : undefined
    const header =
      unique ?? [ownerOf(column), metric, ...(aggregation === undefined ? [] : [aggregation.name])].join('/')
    const count = (known.get(header) ?? 0) + 1
    known.set(header, count)
    return count === 1 ? header : `${header} (${count})`
  })
}
