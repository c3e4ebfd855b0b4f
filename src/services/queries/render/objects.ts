/** Builds results with one object per time, whose keys identify the series. Missing values are left out. */
import type { Json, JsonObject, Yielder } from '#kernel'
import { isoTexts } from './iso-text.ts'
import { type Layout, levelNames, levelsIn, type Levels } from './levels.ts'

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
