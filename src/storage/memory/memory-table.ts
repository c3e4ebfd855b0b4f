/** Stores the documents of one collection of one tenant. */
import { compareText } from '../order.ts'
import type { CheckedQuery } from '../check-query.ts'
import type { Condition } from '../contract.ts'
import { Problems } from '../problems.ts'
import { readFields, type FieldValue, type KnownField, type KnownSpec } from '../spec.ts'
import { RowIndexes } from './row-indexes.ts'
import { RowSearch } from './row-search.ts'
import type { Row } from './row.ts'

export class MemoryTable {
  readonly #rows = new Map<string, Row>()
  /** last versions of deleted documents (STORE-2) */
  readonly #last = new Map<string, number>()
  #indexes = new RowIndexes(this.#rows)
  #search: RowSearch

  constructor(known: KnownSpec) {
    this.#search = new RowSearch(known, this.#rows, this.#indexes)
  }

  /** Throws `VALIDATION` without changing anything. */
  reindex(known: KnownSpec): void {
    const problems = new Problems()
    const fields = [...this.#rows.values()].map((row) =>
      readFields(known, JSON.parse(row.text) as object, `/${row.id}`, problems),
    )
    problems.throwIfAny(`The collection ${known.name}, read by specification ${known.version},`)
    for (const [i, row] of [...this.#rows.values()].entries()) row.fields = fields[i] ?? []
    this.#indexes = new RowIndexes(this.#rows)
    this.#search = new RowSearch(known, this.#rows, this.#indexes)
  }

  get size(): number {
    return this.#rows.size
  }

  get(id: string): Row | undefined {
    return this.#rows.get(id)
  }

  lastVersion(id: string): number {
    return this.#rows.get(id)?.version ?? this.#last.get(id) ?? 0
  }

  put(id: string, version: number, text: string, fields: readonly FieldValue[]): void {
    const row = this.#rows.get(id)
    if (row === undefined) {
      const added = { id, version, text, fields }
      this.#rows.set(id, added)
      this.#last.delete(id)
      this.#indexes.added(added)
    } else {
      row.version = version
      row.text = text
      this.#indexes.change(row, fields)
    }
  }

  delete(id: string): void {
    const row = this.#rows.get(id)
    if (row === undefined) return
    this.#rows.delete(id)
    this.#last.set(id, row.version)
    this.#indexes.removed(row)
  }

  find(query: CheckedQuery): readonly Row[] {
    return this.#search.find(query)
  }

  count(where: readonly Condition[]): number {
    return where.length === 0 ? this.#rows.size : this.#search.all(where).length
  }

  countBy(field: KnownField, where: readonly Condition[]): ReadonlyMap<string, number> {
    const counts = new Map<string, number>()
    if (where.length === 0) {
      for (const [value, rows] of this.#indexes.valuesOf(field.index)) counts.set(String(value), rows.size)
    } else {
      for (const row of this.#search.all(where)) {
        const value = row.fields[field.index]
        if (typeof value === 'string') counts.set(value, (counts.get(value) ?? 0) + 1)
      }
    }
    return new Map([...counts].sort(([a], [b]) => compareText(a, b)))
  }
}
