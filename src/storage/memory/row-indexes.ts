/** Indexes of a table, built on demand. Fields are indexes into `KnownSpec.fields`; -1 stands for the id. */
import { compareText, compareValues } from '../order.ts'
import type { FieldValue } from '../spec.ts'
import type { Row } from './row.ts'

export const BY_ID = -1

const MAX_MOVES = 1_000

type ByValue = Map<string | number, Set<Row>>

interface InOrder {
  readonly field: number
  readonly rows: Row[]
  /** number of writes since the list was last read */
  moves: number
}

export class RowIndexes {
  readonly #all: ReadonlyMap<string, Row>
  readonly #byValue = new Map<number, ByValue>()
  readonly #inOrder = new Map<number, InOrder>()

  constructor(all: ReadonlyMap<string, Row>) {
    this.#all = all
  }

  withValue(field: number, value: string | number): ReadonlySet<Row> {
    return this.valuesOf(field).get(value) ?? NONE
  }

  valuesOf(field: number): ReadonlyMap<string | number, ReadonlySet<Row>> {
    let index = this.#byValue.get(field)
    if (index === undefined) {
      index = new Map()
      for (const row of this.#all.values()) addValues(index, row.fields[field], row)
      this.#byValue.set(field, index)
    }
    return index
  }

  /** Returns all rows ordered by the field's value, then by id; rows without the field come last. */
  inOrder(field: number): readonly Row[] {
    let index = this.#inOrder.get(field)
    if (index === undefined) {
      const rows = [...this.#all.values()].sort((a, b) => compareKeys(keyOf(a, field), a.id, keyOf(b, field), b.id))
      index = { field, rows, moves: 0 }
      this.#inOrder.set(field, index)
    }
    index.moves = 0
    return index.rows
  }

  added(row: Row): void {
    for (const [field, index] of this.#byValue) addValues(index, row.fields[field], row)
    for (const index of this.#lists()) index.rows.splice(indexOf(index, keyOf(row, index.field), row.id), 0, row)
  }

  removed(row: Row): void {
    for (const [field, index] of this.#byValue) removeValues(index, row.fields[field], row)
    for (const index of this.#lists()) index.rows.splice(indexOf(index, keyOf(row, index.field), row.id), 1)
  }

  change(row: Row, fields: readonly FieldValue[]): void {
    const before = row.fields
    const moved = [...this.#inOrder.values()].filter(({ field }) => field !== BY_ID && before[field] !== fields[field])
    const kept = this.#worthMoving(moved)
    for (const index of kept) index.rows.splice(indexOf(index, keyOf(row, index.field), row.id), 1)
    row.fields = fields
    for (const index of kept) index.rows.splice(indexOf(index, keyOf(row, index.field), row.id), 0, row)
    for (const [field, index] of this.#byValue) {
      if (before[field] === fields[field]) continue
      removeValues(index, before[field], row)
      addValues(index, fields[field], row)
    }
  }

  #lists(): readonly InOrder[] {
    return this.#worthMoving([...this.#inOrder.values()])
  }

  #worthMoving(lists: readonly InOrder[]): readonly InOrder[] {
    return lists.filter((index) => {
      index.moves += 1
      if (index.moves > MAX_MOVES) this.#inOrder.delete(index.field)
      return index.moves <= MAX_MOVES
    })
  }
}

const NONE: ReadonlySet<Row> = new Set()

export function keyOf(row: Row, field: number): string | number | undefined {
  if (field === BY_ID) return undefined
  const value = row.fields[field]
  return typeof value === 'string' || typeof value === 'number' ? value : undefined
}

/** Compares sort keys: absent keys come last, equal keys are ordered by id. */
function compareKeys(a: string | number | undefined, idA: string, b: string | number | undefined, idB: string): number {
  if (a === undefined || b === undefined) {
    if (a !== b) return a === undefined ? 1 : -1
  } else {
    const order = compareValues(a, b)
    if (order !== 0) return order
  }
  return compareText(idA, idB)
}

/** Returns the index of a key, or the index at which to insert it. */
function indexOf(index: InOrder, key: string | number | undefined, id: string): number {
  const { rows, field } = index
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >> 1
    const row = rows[middle] as Row // middle is below the length
    if (compareKeys(keyOf(row, field), row.id, key, id) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** Returns the index of the first row after an id, in rows sorted by id. */
export function firstAfter(rows: readonly Row[], id: string): number {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (compareText((rows[middle] as Row).id, id) <= 0)
      low = middle + 1 // middle is below the length
    else high = middle
  }
  return low
}

function addValues(index: ByValue, value: FieldValue, row: Row): void {
  for (const key of keysOf(value)) {
    const rows = index.get(key)
    if (rows === undefined) index.set(key, new Set([row]))
    else rows.add(row)
  }
}

function removeValues(index: ByValue, value: FieldValue, row: Row): void {
  for (const key of keysOf(value)) {
    const rows = index.get(key)
    rows?.delete(row)
    if (rows?.size === 0) index.delete(key)
  }
}

function keysOf(value: FieldValue): readonly (string | number)[] {
  if (typeof value === 'string' || typeof value === 'number') return [value]
  return Array.isArray(value) ? (value as readonly string[]) : []
}
