/** Looks up names of parameters of arrow functions in expressions. */
import type { Pattern } from 'acorn'
import type { Frame } from './run.ts'
import { member } from './values.ts'

export interface Scope {
  readonly names: ReadonlyMap<string, number>
  readonly outer: Scope | undefined
}

export interface Parameters {
  readonly names: ReadonlyMap<string, number>
  slotsOf(values: readonly unknown[]): readonly unknown[]
}

/** Finds a name: how many functions outwards it is declared, and its slot. */
export function findName(scope: Scope | undefined, name: string): { depth: number; slot: number } | undefined {
  let depth = 0
  for (let at = scope; at !== undefined; at = at.outer, depth++) {
    const slot = at.names.get(name)
    if (slot !== undefined) return { depth, slot }
  }
  return undefined
}

export function slotOf(frame: Frame | undefined, depth: number, slot: number): unknown {
  let at = frame
  for (let i = 0; i < depth; i++) at = at?.outer
  return at?.slots[slot]
}

/** Reads names, `[a, b]` and `{a, b}` as parameters; or returns the first unsupported pattern. */
export function readParameters(patterns: readonly Pattern[]): Parameters | { readonly wrong: Pattern } {
  const names = new Map<string, number>()
  const readers: ((values: readonly unknown[]) => unknown)[] = []
  const add = (name: string, read: (values: readonly unknown[]) => unknown): void => {
    names.set(name, readers.push(read) - 1)
  }
  let simple = true
  for (const [index, pattern] of patterns.entries()) {
    const argument = (values: readonly unknown[]): unknown => values[index]
    if (pattern.type === 'Identifier') {
      add(pattern.name, argument)
    } else if (pattern.type === 'ArrayPattern') {
      simple = false
      for (const [position, element] of pattern.elements.entries()) {
        if (element === null) continue
        if (element.type !== 'Identifier') return { wrong: element }
        add(element.name, (values) => member(argument(values), position, element.name))
      }
    } else if (pattern.type === 'ObjectPattern') {
      simple = false
      for (const property of pattern.properties) {
        const known = property.type === 'Property' && !property.computed && property.key.type === 'Identifier'
        if (!known || property.value.type !== 'Identifier' || property.key.type !== 'Identifier')
          return { wrong: pattern }
        const key = property.key.name
        add(property.value.name, (values) => member(argument(values), key, key))
      }
    } else {
      return { wrong: pattern }
    }
  }
  return { names, slotsOf: simple ? (values) => values : (values) => readers.map((read) => read(values)) }
}
