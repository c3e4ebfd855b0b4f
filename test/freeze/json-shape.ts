/** Where JSON has which types of values: a line for each place, the same for all items of a list. */
import { isPlainObject } from '../../src/kernel/json.ts'

export function shapeOf(values: readonly unknown[]): readonly string[] {
  const types = new Map<string, Set<string>>()
  const add = (value: unknown, place: string): void => {
    const type = Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value
    types.set(place, (types.get(place) ?? new Set()).add(type))
    if (Array.isArray(value)) for (const item of value) add(item, `${place}[]`)
    else if (isPlainObject(value)) for (const [name, inner] of Object.entries(value)) add(inner, `${place}.${name}`)
  }
  for (const value of values) add(value, '')
  return [...types].map(([place, all]) => `${place || '.'} ${[...all].toSorted().join('|')}`).toSorted()
}

/** JSON, or lines of JSON. */
export function parseOutput(text: string): readonly unknown[] {
  try {
    return [JSON.parse(text)]
  } catch {
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line): unknown => JSON.parse(line))
  }
}
