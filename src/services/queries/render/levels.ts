/** What tells the columns of a result apart: resource or group, metric, aggregation, and a name where these are not enough. */
import type { JsonObject } from '#kernel'
import type { ColumnPlan } from '../query/plan.ts'

export type Levels = ReadonlyMap<string, string>

/** In the order in which keys are joined. */
const ORDER = ['resource', 'group', 'metric', 'aggregation', 'name']

/** For each column its levels, in order. */
export function levelsOf(columns: readonly ColumnPlan[]): readonly Levels[] {
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

/** Names of the levels that some column has. */
export function levelNames(all: readonly Levels[]): readonly string[] {
  return ORDER.filter((name) => all.some((levels) => levels.has(name)))
}

export interface RolledUp {
  readonly levels: readonly Levels[]
  /** levels that are the same for all */
  readonly common: JsonObject
}

/** What is the same for all moves out, but one level at least stays. */
export function rollUp(all: readonly Levels[]): RolledUp {
  const names = levelNames(all)
  const single = names.filter((name) => new Set(all.map((levels) => levels.get(name))).size === 1)
  const moved = single.length === names.length ? single.slice(0, -1) : single
  const common = Object.fromEntries(moved.map((name) => [name, all[0]?.get(name) ?? null]))
  const levels = all.map((one) => new Map([...one].filter(([name]) => !moved.includes(name))))
  return { levels, common }
}
