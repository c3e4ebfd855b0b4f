/** Keeps the content of a medium in memory after it is closed; `openMemory` can open it again. */
import { AppError, type Json } from '#kernel'
import type { CheckedQuery } from '../check-query.ts'
import type { Condition, LogEntry } from '../contract.ts'
import { compareText } from '../order.ts'
import { Problems } from '../problems.ts'
import { type FieldValue, type KnownField, type KnownSpec, readFields } from '../spec.ts'
import { newerError } from '../tenant.ts'
import type { MemoryObject } from './memory-objects.ts'
import { RowIndexes } from './row-indexes.ts'
import { RowSearch } from './row-search.ts'
import type { Row } from './row.ts'
import { SeriesData } from './series-data.ts'

export interface TenantData {
  readonly tables: Map<string, MemoryTable>
  readonly logs: MemoryLogs
  readonly series: SeriesData
  touched: boolean
}

export class MemoryDisk {
  readonly #tenants = new Map<string, TenantData>()
  readonly #specs = new Map<string, KnownSpec>()
  readonly objects = new Map<string, Map<string, MemoryObject>>()
  #open = false

  /** Reserves the disk for one medium at a time. Throws `STORE` while another medium uses it. */
  take(): void {
    if (this.#open) {
      throw new AppError('STORE', 'The memory is in use by an open medium; close it first')
    }
    this.#open = true
  }

  release(): void {
    this.#open = false
  }

  tenant(id: string): TenantData {
    let data = this.#tenants.get(id)
    if (data === undefined) {
      data = { tables: new Map(), logs: new MemoryLogs(), series: new SeriesData(), touched: false }
      this.#tenants.set(id, data)
    }
    return data
  }

  tenants(): readonly string[] {
    const written = [...this.#tenants].filter(([, data]) => data.touched).map(([id]) => id)
    return written.sort(compareText)
  }

  /** Throws `STORE` when a newer specification was used before. */
  table(tenant: TenantData, known: KnownSpec): MemoryTable {
    this.#bring(known)
    let table = tenant.tables.get(known.name)
    if (table === undefined) {
      table = new MemoryTable(known)
      tenant.tables.set(known.name, table)
    }
    return table
  }

  #bring(known: KnownSpec): void {
    const before = this.#specs.get(known.name)
    if (before === known) return
    if (before !== undefined && before.version > known.version) {
      throw newerError(known.name, before.version, known.version)
    }
    for (const { tables } of this.#tenants.values()) tables.get(known.name)?.reindex(known)
    this.#specs.set(known.name, known)
  }
}

interface KeptLog {
  first: number
  readonly texts: string[]
}

/** Keeps the logs of one tenant: for each name a list of texts, and the position of the first text. */
export class MemoryLogs {
  readonly #logs = new Map<string, KeptLog>()

  last(log: string): number {
    const kept = this.#logs.get(log)
    return kept === undefined ? 0 : kept.first + kept.texts.length - 1
  }

  append(log: string, texts: readonly string[]): void {
    let kept = this.#logs.get(log)
    if (kept === undefined) {
      kept = { first: 1, texts: [] }
      this.#logs.set(log, kept)
    }
    for (const text of texts) kept.texts.push(text)
  }

  read(log: string, after: number, limit: number): readonly LogEntry[] {
    const kept = this.#logs.get(log)
    if (kept === undefined) return []
    const start = Math.max(0, after + 1 - kept.first)
    return kept.texts
      .slice(start, start + limit)
      .map((text, i) => ({ position: kept.first + start + i, body: JSON.parse(text) as Json }))
  }

  bounds(log: string): { readonly first: number; readonly last: number } {
    const first = this.#logs.get(log)?.first ?? 1
    return { first, last: this.last(log) }
  }

  trim(log: string, upTo: number): void {
    const kept = this.#logs.get(log)
    if (kept === undefined || upTo < kept.first) return
    const gone = Math.min(upTo + 1 - kept.first, kept.texts.length)
    kept.texts.splice(0, gone)
    kept.first += gone
  }
}

/** Stores the documents of one collection of one tenant. */
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
