/** Finds matching rows, through the smallest index or by scanning a sorted list until the page is full. */
import type { CheckedQuery } from '../check-query.ts'
import type { Condition } from '../contract.ts'
import { compareText, compareValues } from '../order.ts'
import type { KnownSpec } from '../spec.ts'
import { rowFilter, type RowFilter } from '../row-filter.ts'
import { BY_ID, firstAfter, keyOf, type RowIndexes } from './row-indexes.ts'
import type { Row } from './row.ts'

type SortKey = { readonly field: number; readonly descending: boolean }

/** Up to this many candidates are sorted directly, without a sorted list. */
const MANY_TO_SORT = 1_000

export class RowSearch {
  readonly #known: KnownSpec
  readonly #rows: ReadonlyMap<string, Row>
  readonly #indexes: RowIndexes

  constructor(known: KnownSpec, rows: ReadonlyMap<string, Row>, indexes: RowIndexes) {
    this.#known = known
    this.#rows = rows
    this.#indexes = indexes
  }

  find(query: CheckedQuery): readonly Row[] {
    const { offset, limit, afterId, where } = query
    if (limit === 0) return []
    const holds = rowFilter(this.#known, where)
    const sort = query.sort.map(({ field, descending }) => ({
      field: field === 'id' ? BY_ID : field.index,
      descending,
    }))
    const candidates = this.#candidates(where)
    const end = offset + limit
    // with many matches a scan soon fills the page; the budget limits the cost otherwise
    const budget = candidates?.length ?? Infinity
    if (candidates === undefined || budget > MANY_TO_SORT) {
      const page = this.#walk(sort, afterId, holds, end, budget)
      if (page !== undefined) return page.slice(offset)
    }
    const found = (candidates ?? []).filter(
      (row) => holds(row) && (afterId === undefined || compareText(row.id, afterId) > 0),
    )
    return found.sort((a, b) => compareRows(a, b, sort)).slice(offset, end)
  }

  all(where: readonly Condition[]): readonly Row[] {
    const holds = rowFilter(this.#known, where)
    return (this.#candidates(where) ?? [...this.#rows.values()]).filter((row) => holds(row))
  }

  /** Returns candidate rows: the smallest set that an index offers for one of the conditions. */
  #candidates(where: readonly Condition[]): Row[] | undefined {
    let fewest: readonly ReadonlySet<Row>[] | undefined
    let least = Infinity
    for (const condition of where) {
      const sets = this.#setsOf(condition)
      if (sets === undefined) continue
      const size = sets.reduce((sum, set) => sum + set.size, 0)
      if (size < least) {
        fewest = sets
        least = size
      }
    }
    if (fewest === undefined) return undefined
    // a row may have several of the texts
    return fewest.length === 1 ? [...(fewest[0] ?? [])] : [...new Set(fewest.flatMap((set) => [...set]))]
  }

  #setsOf(condition: Condition): readonly ReadonlySet<Row>[] | undefined {
    if ('any' in condition) return undefined
    let values: ReadonlySet<string | number>
    if (condition.op === 'eq') values = new Set([condition.value])
    else if (condition.op === 'in') values = new Set(condition.values)
    else return undefined
    if (condition.field === 'id') {
      const rows = [...values].flatMap((id) => this.#rows.get(String(id)) ?? [])
      return [new Set(rows)]
    }
    const field = this.#known.byName.get(condition.field)
    return field && [...values].map((value) => this.#indexes.withValue(field.index, value))
  }

  /** Undefined when that would take reading more than `budget` rows. */
  #walk(
    sort: readonly SortKey[],
    afterId: string | undefined,
    holds: RowFilter,
    end: number,
    budget: number,
  ): readonly Row[] | undefined {
    const [first = { field: BY_ID, descending: false }, ...rest] = sort
    const { field, descending } = first
    const rows = this.#indexes.inOrder(field)
    const begin = afterId === undefined ? 0 : firstAfter(rows, afterId)
    const present = field === BY_ID ? rows.length : firstAbsent(rows, field)
    const found: Row[] = []
    for (let passed = begin; passed < rows.length && found.length < end;) {
      if (passed - begin > budget) return undefined
      let run: readonly [number, number]
      if (passed >= present) run = [present, rows.length]
      else if (field === BY_ID) run = descending ? [present - passed - 1, present - passed] : [passed, passed + 1]
      else run = descending ? runBefore(rows, field, present - passed) : runAfter(rows, field, passed)
      takeRun(rows, run, holds, rest, found)
      passed += run[1] - run[0]
    }
    return found.slice(0, end)
  }
}

function takeRun(
  rows: readonly Row[],
  [start, stop]: readonly [number, number],
  holds: RowFilter,
  rest: readonly SortKey[],
  found: Row[],
): void {
  const run: Row[] = []
  for (let i = start; i < stop; i += 1) {
    const row = rows[i] as Row // within bounds
    if (holds(row)) run.push(row)
  }
  if (rest.length > 0) run.sort((a, b) => compareRows(a, b, rest))
  for (const row of run) found.push(row)
}

function runAfter(rows: readonly Row[], field: number, start: number): readonly [number, number] {
  const key = keyOf(rows[start] as Row, field) // asked within bounds only
  let stop = start + 1
  while (stop < rows.length && keyOf(rows[stop] as Row, field) === key) stop += 1 // stop is below length
  return [start, stop]
}

/** Returns the range of rows that have the same key as the row before `stop`. */
function runBefore(rows: readonly Row[], field: number, stop: number): readonly [number, number] {
  let start = stop - 1
  const key = keyOf(rows[start] as Row, field) // asked within bounds only
  while (start > 0 && keyOf(rows[start - 1] as Row, field) === key) start -= 1 // start - 1 is at least 0
  return [start, stop]
}

function firstAbsent(rows: readonly Row[], field: number): number {
  let low = 0
  let high = rows.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (keyOf(rows[middle] as Row, field) === undefined)
      high = middle // middle is below length
    else low = middle + 1
  }
  return low
}

function compareRows(a: Row, b: Row, sort: readonly SortKey[]): number {
  for (const { field, descending } of sort) {
    if (field === BY_ID) return descending ? compareText(b.id, a.id) : compareText(a.id, b.id)
    const x = keyOf(a, field)
    const y = keyOf(b, field)
    if (x === y) continue
    if (x === undefined || y === undefined) return x === undefined ? 1 : -1
    const order = compareValues(x, y)
    if (order !== 0) return descending ? -order : order
  }
  return compareText(a.id, b.id)
}
