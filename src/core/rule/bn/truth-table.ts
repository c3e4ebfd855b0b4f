/** Converts relations to truth tables: one flag per combination of parent states; the state of the last parent varies fastest. */
import { allowsNumber } from '../count-limits.ts'
import type { RelationType } from '../rule.ts'

export type Rows = Uint8Array

/** A relation with state numbers instead of names: `combinations[row][parent]`. */
export interface Shape {
  readonly type: RelationType
  readonly combinations: readonly (readonly number[])[]
  /** for COUNT and SHARE */
  readonly atLeast?: number
  readonly atMost?: number
}

export function rowCount(sizes: readonly number[]): number {
  return sizes.reduce((product, size) => product * size, 1)
}

/** Returns the TRUE rows of a relation. State numbers must be in range. */
export function rowsOf(shape: Shape, sizes: readonly number[]): Rows {
  const rows = new Uint8Array(rowCount(sizes))
  const [first = []] = shape.combinations
  switch (shape.type) {
    case 'OR':
      for (let row = 0; row < rows.length; row++) {
        if (statesAt(row, sizes).some((state, parent) => state === first[parent])) rows[row] = 1
      }
      return rows
    case 'NAND':
      rows.fill(1)
      rows[rowAt(first, sizes)] = 0
      return rows
    case 'COUNT':
    case 'SHARE':
      for (let row = 0; row < rows.length; row++) {
        const met = statesAt(row, sizes).filter((state, parent) => state === first[parent]).length
        if (allowsNumber(shape, met, sizes.length)) rows[row] = 1
      }
      return rows
    default:
      for (const combination of shape.combinations) rows[rowAt(combination, sizes)] = 1
      return rows
  }
}

/** `hint` chooses between types with the same table; without it a NAND is GENERAL. */
export function shapeOf(rows: Rows, sizes: readonly number[], hint?: RelationType): Shape {
  const order: readonly RelationType[] = hint === undefined ? ['AND', 'OR'] : [hint, 'AND', 'OR']
  for (const type of order) {
    const combination = READERS[type]?.(rows, sizes)
    if (combination !== undefined) return { type, combinations: [combination] }
    if (type === 'GENERAL') break
  }
  const combinations: number[][] = []
  rows.forEach((isTrue, row) => {
    if (isTrue === 1) combinations.push(statesAt(row, sizes))
  })
  return { type: 'GENERAL', combinations }
}

const READERS: Partial<Record<RelationType, (rows: Rows, sizes: readonly number[]) => number[] | undefined>> = {
  AND: (rows, sizes) => onlyRow(rows, 1, sizes),
  NAND: (rows, sizes) => onlyRow(rows, 0, sizes),
  OR: orStates,
}

function onlyRow(rows: Rows, value: 0 | 1, sizes: readonly number[]): number[] | undefined {
  const row = rows.indexOf(value)
  return row >= 0 && rows.indexOf(value, row + 1) < 0 ? statesAt(row, sizes) : undefined
}

/** An OR is FALSE exactly where no parent is in its wanted state: its FALSE rows are a product. */
function orStates(rows: Rows, sizes: readonly number[]): number[] | undefined {
  const seen = sizes.map(() => new Set<number>())
  let falseRows = 0
  rows.forEach((isTrue, row) => {
    if (isTrue === 1) return
    falseRows++
    statesAt(row, sizes).forEach((state, parent) => seen[parent]?.add(state))
  })
  const product = sizes.reduce((count, size) => count * (size - 1), 1)
  if (falseRows === 0 || falseRows !== product) return undefined
  if (seen.some((states, parent) => states.size !== (sizes[parent] ?? 0) - 1)) return undefined
  return seen.map((states) => firstMissing(states))
}

function firstMissing(states: ReadonlySet<number>): number {
  let state = 0
  while (states.has(state)) state++
  return state
}

export function rowAt(states: readonly number[], sizes: readonly number[]): number {
  return sizes.reduce((row, size, parent) => row * size + (states[parent] ?? 0), 0)
}

function statesAt(row: number, sizes: readonly number[]): number[] {
  const states = sizes.map(() => 0)
  let rest = row
  for (let parent = sizes.length - 1; parent >= 0; parent--) {
    const size = sizes[parent] ?? 1
    states[parent] = rest % size
    rest = Math.floor(rest / size)
  }
  return states
}
