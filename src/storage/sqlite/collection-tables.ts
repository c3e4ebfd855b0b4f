/** Writes the documents of one collection, inside the transaction of its caller. */
import {
  documentsTable,
  fieldsTable,
  narrowColumns,
  textsTable,
  wideColumns,
  wideTable,
  type CollectionForm,
  type ColumnValues,
} from './collection-form.ts'
import { sumOf } from './checksum.ts'
import type { Database, SqlValue } from './database.ts'

export interface Current {
  readonly version: number
  readonly live: boolean
}

export class CollectionTables {
  readonly #db: Database
  readonly #sql: Statements
  readonly #fields: ColumnTable
  readonly #wide: ColumnTable | undefined
  readonly #texts: readonly { readonly name: string; readonly index: number }[]
  /** index of the number by which entries of texts are sorted; -1 if there is none */
  readonly #rank: number
  #changed = false

  constructor(db: Database, form: CollectionForm) {
    this.#db = db
    this.#sql = statementsOf(form)
    const [narrow, wide] = [narrowColumns(form), wideColumns(form)]
    this.#fields = { table: fieldsTable(form), columns: narrow, from: 0 }
    this.#wide = wide.length === 0 ? undefined : { table: wideTable(form), columns: wide, from: narrow.length }
    const columns = [...narrow, ...wide]
    this.#rank = form.rank === undefined ? -1 : columns.indexOf(form.rank.column)
    this.#texts = form.fields
      .filter(({ type }) => type === 'texts')
      .map(({ name, column }) => ({ name, index: columns.indexOf(column) }))
  }

  /** Returns a document's version and whether it is live; version 0 if it never existed. */
  current(tenant: string, id: string): Current {
    const [, version, live] = this.#find(tenant, id)
    return { version, live: live === 1 }
  }

  searched(tenant: string, id: string): ColumnValues | null {
    const [key, , live] = this.#find(tenant, id)
    return live === 1 ? this.#searched(key) : null
  }

  takeChanged(): boolean {
    const changed = this.#changed
    this.#changed = false
    return changed
  }

  put(tenant: string, id: string, body: string, fields: ColumnValues): number {
    const [key, version] = this.#db.row<Key>(this.#sql.put, tenant, id, body, sumOf([], tenant, id, body)) ?? [0, 0]
    const before = version === 1 ? null : this.#searched(key)
    if (before === null) this.#insert(tenant, id, key, fields)
    else this.#update(tenant, key, before, fields)
    return version
  }

  delete(tenant: string, id: string): boolean {
    const [key] = this.#db.row<readonly [number]>(this.#sql.bury, tenant, id) ?? []
    if (key === undefined) return false
    const before = this.#searched(key)
    if (before !== null) this.#retext(tenant, key, before, [])
    this.#db.run(this.#sql.unindex, key)
    if (this.#wide !== undefined) this.#db.run(this.#sql.unwiden, key)
    this.#changed = true
    return true
  }

  /** Writes the searchable values of a document that was read earlier, unless the document has changed since. */
  fill(tenant: string, id: string, fields: ColumnValues): void {
    const [key, , live] = this.#find(tenant, id)
    if (live === 1 && this.#searched(key) === null) this.#insert(tenant, id, key, fields)
  }

  #find(tenant: string, id: string): Found {
    return this.#db.row<Found>(this.#sql.find, tenant, id) ?? [0, 0, 0]
  }

  #searched(key: number): ColumnValues | null {
    return this.#db.row<ColumnValues>(this.#sql.searched, key) ?? null
  }

  #insert(tenant: string, id: string, key: number, fields: ColumnValues): void {
    this.#retext(tenant, key, [], fields)
    const { index, widen } = this.#sql
    const from = this.#wide?.from
    this.#db.run(index, key, tenant, id, ...(from === undefined ? fields : fields.slice(0, from)))
    if (from !== undefined) this.#db.run(widen, key, ...fields.slice(from))
    this.#changed = true
  }

  /** Updates only changed columns: most writes change few fields, so the indexes of other fields stay untouched. */
  #update(tenant: string, key: number, before: ColumnValues, fields: ColumnValues): void {
    if (fields.every((value, index) => value === before[index])) return
    this.#retext(tenant, key, before, fields)
    for (const one of [this.#fields, this.#wide]) if (one !== undefined) this.#updateColumns(one, key, before, fields)
    this.#changed = true
  }

  #updateColumns({ table, columns, from }: ColumnTable, key: number, before: ColumnValues, now: ColumnValues): void {
    const indexes = columns.map((_, i) => from + i).filter((index) => now[index] !== before[index])
    if (indexes.length === 0) return
    const list = indexes.map((index) => `${columns[index - from]} = ?`).join(', ')
    this.#db.run(`UPDATE ${table} SET ${list} WHERE key = ?`, ...indexes.map((index) => now[index] ?? null), key)
  }

  /** Updates the entries in `t_x`. For an absent document, pass empty lists. */
  #retext(tenant: string, key: number, before: ColumnValues, now: ColumnValues): void {
    const [was, is] = [this.#rankOf(before), this.#rankOf(now)]
    for (const { name, index } of this.#texts) {
      const [old = null, next = null] = [before[index], now[index]]
      if (old === next && was === is) continue
      const [had, has] = [new Set(entries(old)), new Set(entries(next))]
      const stays = (value: string): boolean => was === is && had.has(value) && has.has(value)
      for (const value of had) if (!stays(value)) this.#db.run(this.#sql.untext, tenant, name, value, was, key)
      for (const value of has) if (!stays(value)) this.#db.run(this.#sql.text, tenant, name, value, is, key)
    }
  }

  #rankOf(fields: ColumnValues): number {
    if (this.#rank < 0) return 0
    const rank = fields[this.#rank]
    // absent numbers come last in descending order
    return typeof rank === 'number' ? rank : -Infinity
  }
}

type Key = readonly [key: number, version: number]
type Found = readonly [key: number, version: number, live: number]

interface ColumnTable {
  readonly table: string
  readonly columns: readonly string[]
  /** index of the table's first column among all values */
  readonly from: number
}

function entries(text: SqlValue): readonly string[] {
  return typeof text === 'string' ? (JSON.parse(text) as readonly string[]) : []
}

type Statements = ReturnType<typeof statementsOf>

function statementsOf(form: CollectionForm) {
  const [documents, fields, texts] = [documentsTable(form), fieldsTable(form), textsTable(form)]
  const [narrow, wide] = [narrowColumns(form), wideColumns(form)]
  const [wideRows, parameters] = [wideTable(form), (count: number): string => ', ?'.repeat(count)]
  const joined = wide.length === 0 ? '' : ` JOIN ${wideRows} USING (key)`
  return {
    find: `SELECT key, version, body IS NOT NULL FROM ${documents} WHERE tenant = ? AND id = ?`,
    // the checksum includes the version, which is incremented here
    put: `INSERT INTO ${documents} (tenant, id, version, body, sum) VALUES (?1, ?2, 1, ?3, ?4 + 1)
          ON CONFLICT (tenant, id) DO UPDATE SET version = version + 1, body = excluded.body, sum = ?4 + version + 1
          RETURNING key, version`,
    bury: `UPDATE ${documents} SET body = NULL WHERE tenant = ? AND id = ? AND body IS NOT NULL RETURNING key`,
    index: `INSERT INTO ${fields} (key, tenant, id, ${narrow.join(', ')}) VALUES (?, ?, ?${parameters(narrow.length)})`,
    unindex: `DELETE FROM ${fields} WHERE key = ?`,
    widen: `INSERT INTO ${wideRows} (key, ${wide.join(', ')}) VALUES (?${parameters(wide.length)})`,
    unwiden: `DELETE FROM ${wideRows} WHERE key = ?`,
    searched: `SELECT ${[...narrow, ...wide].join(', ')} FROM ${fields}${joined} WHERE key = ?`,
    text: `INSERT INTO ${texts} (tenant, field, value, rank, key) VALUES (?, ?, ?, ?, ?)`,
    untext: `DELETE FROM ${texts} WHERE tenant = ? AND field = ? AND value = ? AND rank = ? AND key = ?`,
  }
}
