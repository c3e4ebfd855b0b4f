/** Finds the rows of a question: by the smallest index that covers it, or along an order until the page is full. */
import type { CheckedQuery } from '../check-query.ts'
import type { Condition } from '../contract.ts'
import { compareText, compareValues } from '../order.ts'
import type { KnownSpec } from '../spec.ts'
import { rowFilter } from './row-filter.ts'
import { BY_ID, firstAfter, keyOf, type RowIndexes } from './row-indexes.ts'
import type { Row } from './row.ts'

type SortKey = { readonly field: number; readonly descending: boolean }

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
    const { offset, limit, afterId } = query
    if (limit === 0) return []
    const holds = rowFilter(this.#known, query.where)
    const sort = query.sort.map(({ field, descending }) => ({
      field: field === 'id' ? BY_ID : field.index,
      descending,
    }))
    const candidates = this.#candidates(query.where)
    const end = offset + limit
    if (candidates !== undefined && isCheaperToSort(candidates.length, this.#rows.size, end)) {
      const found = candidates.filter(
        (row) => holds(row) && (afterId === undefined || compareText(row.id, afterId) > 0),
      )
      return found.sort((a, b) => compareRows(a, b, sort)).slice(offset, end)
    }
    const found: Row[] = []
    let passed = 0
    for (const row of this.#walk(sort, afterId)) {
      if (!holds(row)) continue
      passed += 1
      if (passed > offset) found.push(row)
      if (passed === end) break
    }
    return found
  }

  /** Every row of a question, in no order. */
  all(where: readonly Condition[]): readonly Row[] {
    const holds = rowFilter(this.#known, where)
    return (this.#candidates(where) ?? [...this.#rows.values()]).filter((row) => holds(row))
  }

  /** Rows among which all that are sought are: the fewest that an index gives for one of the conditions. */
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
    // A row may carry several of the texts asked for
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

  /** All rows in an order, one run of equal first keys after the other. */
  *#walk(sort: readonly SortKey[], afterId: string | undefined): Iterable<Row> {
    const [first, ...rest] = sort
    const ordered = this.#indexes.inOrder(first?.field ?? BY_ID)
    if (first === undefined || first.field === BY_ID) {
      const start = afterId === undefined ? 0 : firstAfter(ordered, afterId)
      const step = first?.descending === true ? -1 : 1
      for (let i = step > 0 ? start : ordered.length - 1; i >= start && i < ordered.length; i += step)
        yield ordered[i] as Row // within bounds
      return
    }
    for (const [start, end] of runs(ordered, first)) {
      if (rest.length === 0)
        for (let i = start; i < end; i += 1) yield ordered[i] as Row // within bounds
      else yield* ordered.slice(start, end).sort((a, b) => compareRows(a, b, rest))
    }
  }
}

/** From and up to where rows have one key, in the order asked; those without a key last in either direction. */
function* runs(rows: readonly Row[], { field, descending }: SortKey): Iterable<readonly [number, number]> {
  const keyAt = (i: number) => keyOf(rows[i] as Row, field) // asked within bounds only
  let present = rows.length
  if (descending) {
    present = firstAbsent(rows, field)
    for (let end = present; end > 0;) {
      let start = end - 1
      while (start > 0 && keyAt(start - 1) === keyAt(end - 1)) start -= 1
      yield [start, end]
      end = start
    }
  }
  for (let start = descending ? present : 0; start < rows.length;) {
    let end = start + 1
    while (end < rows.length && keyAt(end) === keyAt(start)) end += 1
    yield [start, end]
    start = end
  }
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

/** Against walking an order until a page is full, when the candidates lie evenly in it. */
function isCheaperToSort(candidates: number, rows: number, end: number): boolean {
  if (candidates === 0) return true
  return candidates * Math.log2(candidates + 1) < Math.min(rows, (end * rows) / candidates)
}
