import { toNumber } from './coercion.ts'
import type { LogicNode, Run } from './run.ts'

/** How each key that an expression can name is read. */
export type KeyReaders = ReadonlyMap<string, LogicNode>

const MAX_DEPTH = 64

/** Every text and number in an argument of `missing` that may turn out to be a key. */
export function literalKeys(argument: unknown): ReadonlySet<string> {
  const keys = new Set<string>()
  collectKeys(argument, keys, 0)
  return keys
}

function collectKeys(argument: unknown, keys: Set<string>, depth: number): void {
  if (typeof argument === 'string' || typeof argument === 'number') keys.add(String(argument))
  if (typeof argument !== 'object' || argument === null || depth > MAX_DEPTH) return
  for (const [key, inner] of Object.entries(argument)) if (key !== 'var') collectKeys(inner, keys, depth + 1)
}

/** `missing`: the keys among the arguments that have no value. */
export function missingNode(args: readonly LogicNode[], readers: KeyReaders): LogicNode {
  return (run, item) => {
    const values = args.map((arg) => arg(run, item))
    return absent(Array.isArray(values[0]) ? values[0] : values, readers, run, item)
  }
}

/** `missing_some`: nothing when at least so many keys have a value, else those that have none. */
export function missingSomeNode(need: LogicNode, keys: LogicNode, readers: KeyReaders): LogicNode {
  return (run, item) => {
    const given = keys(run, item)
    const list: readonly unknown[] = Array.isArray(given) ? given : [given]
    const without = absent(list, readers, run, item)
    return list.length - without.length >= toNumber(need(run, item)) ? [] : without
  }
}

/** A key that comes out of data and not out of the logic has no reader: data must not choose what is read. */
function absent(keys: readonly unknown[], readers: KeyReaders, run: Run, item: unknown): unknown[] {
  return keys.filter((key) => {
    const reader = typeof key === 'string' || typeof key === 'number' ? readers.get(String(key)) : undefined
    const value = reader ? reader(run, item) : null
    return value === null || value === undefined || value === ''
  })
}
