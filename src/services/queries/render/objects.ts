/** Builds results with one object per time, whose keys identify the series. Missing values are left out. */
import type { Json, JsonObject, Yielder } from '#kernel'
import { offsetMs } from '#services/shared'
import type { WindowSpec } from '../contract.ts'
import type { RowBatch } from '../execution/row-batch.ts'
import { type ColumnPlan, ownerOf } from '../query/plan.ts'
import type { RenderOptions } from './render-modes.ts'

/** number of rows between two clock reads */
const STRIDE = 64

export async function objectsOf(layout: Layout, yielder: Yielder): Promise<readonly JsonObject[]> {
  const { table, options, zone } = layout
  const { hierarchical = false, key_separator: separator = options.key_seperator ?? '.', value_key: valueKey } = options
  const { levels, common } = levelsIn(layout)
  const nested = nestedLevels(hierarchical, levels)
  const paths = levels.map((one) => pathOf(one, nested, separator))
  const textOf = isoTexts(zone)
  const shared = options.upload ? common : { role: 'input', ...common }
  const shown = options.show_levels ? levelTexts(levels, nested, separator) : undefined
  const objects: JsonObject[] = []
  for (const [i, time] of table.times.entries()) {
    const object: Tree = new Map<string, Json | Tree>(Object.entries(shared))
    object.set('timestamp', time)
    if (options.iso_timestamp) object.set('timestamp_iso', textOf(time))
    if (shown !== undefined) object.set('levels', shown)
    for (const [k, path] of paths.entries()) {
      const cell = table.cells[k]?.[i] ?? null
      if (cell !== null) put(object, path, valueKey === undefined ? cell : { [valueKey]: cell })
      else if (!options.key_skip_empty) put(object, path, null)
    }
    objects.push(plain(object))
    if (i % STRIDE === 0) await yielder.due()
  }
  return objects
}

type Tree = Map<string, Json | Tree>

function nestedLevels(hierarchical: boolean | readonly string[], levels: readonly Levels[]): readonly string[] {
  if (hierarchical === false) return []
  const names = levelNames(levels)
  return hierarchical === true ? names : names.filter((name) => hierarchical.includes(name))
}

function pathOf(levels: Levels, nested: readonly string[], separator: string): readonly string[] {
  const outer = nested.flatMap((name) => levels.get(name) ?? [])
  const rest = [...levels].filter(([name]) => !nested.includes(name)).map(([, value]) => value)
  return rest.length === 0 ? outer : [...outer, rest.join(separator)]
}

function levelTexts(levels: readonly Levels[], nested: readonly string[], separator: string): readonly string[] {
  const rest = levelNames(levels).filter((name) => !nested.includes(name))
  return rest.length === 0 ? nested : [...nested, rest.join(separator)]
}

function put(tree: Tree, path: readonly string[], value: Json): void {
  let at = tree
  for (const key of path.slice(0, -1)) {
    const known = at.get(key)
    const next: Tree = known instanceof Map ? known : new Map()
    if (next !== known) at.set(key, next)
    at = next
  }
  const last = path.at(-1)
  if (value !== null && last !== undefined) at.set(last, value)
}

/** Converts to plain objects at the end, because names of resources might collide with inherited properties before. */
function plain(tree: Tree): JsonObject {
  return Object.fromEntries([...tree].map(([key, value]) => [key, value instanceof Map ? plain(value) : value]))
}

const DAY = 86_400_000
const MINUTE = 60_000

const TWO = Array.from({ length: 100 }, (_, i) => String(i).padStart(2, '0'))

/** ISO 8601 with the offset of a zone; six fractional digits unless the second is whole. */
export function isoTexts(zone: string | undefined): (time: number) => string {
  const day = dayTexts()
  return (time) => {
    const offset = zone === undefined ? 0 : offsetMs(time, zone)
    const local = time + offset
    const ms = modulo(local, 1_000)
    return `${day(local)}T${clockText(local)}${ms === 0 ? '' : `.${String(ms).padStart(3, '0')}000`}${offsetText(offset)}`
  }
}

function dayTexts(): (time: number) => string {
  let known = Number.NaN
  let text = ''
  return (time) => {
    const day = Math.floor(time / DAY)
    if (day !== known) {
      text = new Date(day * DAY).toISOString().split('T')[0] ?? ''
      known = day
    }
    return text
  }
}

function clockText(time: number): string {
  const seconds = Math.floor(modulo(time, DAY) / 1_000)
  const minutes = Math.floor(seconds / 60)
  return `${TWO[Math.floor(minutes / 60)]}:${TWO[minutes % 60]}:${TWO[seconds % 60]}`
}

function offsetText(offset: number): string {
  const minutes = Math.round(Math.abs(offset) / MINUTE)
  return `${offset < 0 ? '-' : '+'}${TWO[Math.floor(minutes / 60)]}:${TWO[minutes % 60]}`
}

function modulo(value: number, by: number): number {
  return ((value % by) + by) % by
}

/** Determines the levels that identify columns: resource or group, metric, aggregation, and a name where needed. */
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

interface RolledUp {
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
