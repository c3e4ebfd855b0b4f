/** Compiles conditions to a function that tests a document's fields. */
import type { Condition } from './contract.ts'
import { compareValues, foldCase } from './order.ts'
import type { FieldValue, KnownSpec, Place } from './spec.ts'

export interface SearchedRow {
  readonly id: string
  /** values by index of the field */
  readonly fields: readonly FieldValue[]
}

export type RowFilter = (row: SearchedRow) => boolean

type One = Exclude<Condition, { readonly any: unknown }>

/** The conditions must be valid. */
export function rowFilter(known: KnownSpec, where: readonly Condition[]): RowFilter {
  const filters = where.map((condition) => filterOf(known, condition))
  const [first, second] = filters
  if (first === undefined) return () => true
  if (second === undefined) return first
  return (row) => filters.every((holds) => holds(row))
}

function filterOf(known: KnownSpec, condition: Condition): RowFilter {
  if ('any' in condition) {
    const lists = condition.any.map((where) => rowFilter(known, where))
    return (row) => lists.some((holds) => holds(row))
  }
  const holds = valueFilter(condition)
  if (condition.field === 'id') return (row) => holds(row.id)
  const index = known.byName.get(condition.field)?.index ?? -1
  return (row) => holds(row.fields[index])
}

function valueFilter(condition: One): (value: FieldValue) => boolean {
  switch (condition.op) {
    case 'exists':
      return (value) => (value !== undefined) === condition.value
    case 'eq': {
      const wanted = condition.value
      return (value) => value === wanted || (isTexts(value) && value.some((text) => text === wanted))
    }
    case 'ne':
      return (value) => value !== condition.value
    case 'in': {
      // a Set treats 0 and -0 as equal, as needed here
      const wanted = new Set<unknown>(condition.values)
      return (value) => (isTexts(value) ? value.some((text) => wanted.has(text)) : wanted.has(value))
    }
    case 'gt':
      return comparing(condition.value, (order) => order > 0)
    case 'gte':
      return comparing(condition.value, (order) => order >= 0)
    case 'lt':
      return comparing(condition.value, (order) => order < 0)
    case 'lte':
      return comparing(condition.value, (order) => order <= 0)
    case 'contains': {
      const wanted = foldCase(condition.value)
      return (value) => typeof value === 'string' && foldCase(value).includes(wanted)
    }
    case 'startsWith':
      return (value) => typeof value === 'string' && value.startsWith(condition.value)
    case 'like': {
      const fits = pattern(condition.pattern)
      return (value) => typeof value === 'string' && fits(value)
    }
    case 'box':
      return (value) => isPlace(value) && isInside(value, condition)
  }
}

function comparing(bound: string | number, holds: (order: number) => boolean): (value: FieldValue) => boolean {
  return (value) => (typeof value === 'string' || typeof value === 'number') && holds(compareValues(value, bound))
}

/** Compiles a `like` pattern. Each piece between stars matches at the first possible position, so one pass suffices. */
function pattern(text: string): (value: string) => boolean {
  const [head = '', ...rest] = text.split('*')
  const tail = rest.pop()
  if (tail === undefined) return (value) => value === head
  return (value) => {
    if (value.length < head.length + tail.length || !value.startsWith(head) || !value.endsWith(tail)) return false
    const end = value.length - tail.length
    let at = head.length
    for (const piece of rest) {
      const found = value.indexOf(piece, at)
      if (found < 0 || found + piece.length > end) return false
      at = found + piece.length
    }
    return true
  }
}

function isInside(place: Place, box: Extract<One, { readonly op: 'box' }>): boolean {
  const { south, west, north, east } = box
  if (place.lat < south || place.lat > north) return false
  return west <= east ? place.lng >= west && place.lng <= east : place.lng >= west || place.lng <= east
}

function isTexts(value: FieldValue): value is readonly string[] {
  return Array.isArray(value)
}

function isPlace(value: FieldValue): value is Place {
  return typeof value === 'object' && !isTexts(value)
}
