/** Compares and merges two changed versions of a rule by their common base. */
import type { Json } from './rule-edits.ts'

export type Side = 'theirs' | 'yours'

export interface Difference {
  /** such as `sensors / temperature / properties / threshold` */
  readonly path: string
  readonly base: unknown
  readonly theirs: unknown
  readonly yours: unknown
  /** the side that changed it; both: a conflict */
  readonly changedBy: Side | 'both'
}

type Tree = ReadonlyMap<string, unknown>

/** Lists whose items have names. */
const NAMES: Readonly<Record<string, (item: Json) => unknown>> = {
  sensors: ({ label }) => label,
  relations: ({ label }) => label,
  actuators: ({ label }) => label,
  variables: ({ name }) => name,
  triggers: ({ sourceLabel, destinationLabel }) => `${String(sourceLabel)} → ${String(destinationLabel)}`,
}

/** Makes maps of objects, and of lists whose items have names. */
function treeOf(value: unknown, key = ''): unknown {
  if (typeof value !== 'object' || value === null) return value
  const name = NAMES[key]
  if (!Array.isArray(value)) return new Map(Object.entries(value).map(([field, one]) => [field, treeOf(one, field)]))
  if (name === undefined) return value
  const items = new Map<string, unknown>()
  for (const item of value as readonly Json[]) {
    const label = String(name(item))
    let own = label
    for (let number = 2; items.has(own); number++) own = `${label} (${number})`
    items.set(own, treeOf(item))
  }
  return items
}

function valueOf(tree: unknown, key = ''): unknown {
  if (!(tree instanceof Map)) return tree
  const entries = [...(tree as Tree)].map(([field, one]) => [field, valueOf(one, field)] as const)
  return Object.hasOwn(NAMES, key) ? entries.map(([, item]) => item) : Object.fromEntries(entries)
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(valueOf(a)) === JSON.stringify(valueOf(b))

function walk(
  base: unknown,
  theirs: unknown,
  yours: unknown,
  path: readonly string[],
  decide: (difference: Difference) => unknown,
): unknown {
  if (isSame(theirs, yours)) return theirs
  const key = path.at(-1) ?? ''
  if (theirs instanceof Map && yours instanceof Map) {
    const before = base instanceof Map ? (base as Tree) : new Map<string, unknown>()
    const names = new Set<string>([...(theirs as Tree).keys(), ...(yours as Tree).keys()])
    const merged = new Map<string, unknown>()
    for (const name of names) {
      const value = walk(before.get(name), theirs.get(name), yours.get(name), [...path, name], decide)
      if (value !== undefined) merged.set(name, value)
    }
    return merged
  }
  const changedBy = isSame(base, theirs) ? 'yours' : isSame(base, yours) ? 'theirs' : 'both'
  const side = decide({
    path: path.join(' / '),
    base: valueOf(base, key),
    theirs: valueOf(theirs, key),
    yours: valueOf(yours, key),
    changedBy,
  })
  return side === 'yours' ? yours : theirs
}

/** Returns what differs between the two, in their order. */
export function differences(base: Json, theirs: Json, yours: Json): readonly Difference[] {
  const found: Difference[] = []
  walk(treeOf(base), treeOf(theirs), treeOf(yours), [], (difference) => void found.push(difference))
  return found
}

/** Merges: one-sided changes are taken; a conflict takes the side chosen for its path. */
export function merged(base: Json, theirs: Json, yours: Json, chosen: ReadonlyMap<string, Side>): Json {
  return valueOf(
    walk(treeOf(base), treeOf(theirs), treeOf(yours), [], ({ path, changedBy }) =>
      changedBy === 'both' ? chosen.get(path) : changedBy,
    ),
  ) as Json
}

/** Returns the labels of the nodes that differences are about. */
export function nodesOf(list: readonly Difference[], side: Side): ReadonlyMap<string, string> {
  return new Map(
    list.flatMap(({ path, changedBy }) => {
      const [kind = '', name = ''] = path.split(' / ')
      if (changedBy !== side && changedBy !== 'both') return []
      const label = kind === 'triggers' ? name.replace(/^.* → /, '').replace(/ \(\d+\)$/, '') : name
      return kind in NAMES && kind !== 'variables' ? [[label, 'changed'] as const] : []
    }),
  )
}
