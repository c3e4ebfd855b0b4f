/** The writes of one collection. Works inside the transaction of its caller. */
import {
  documentsTable,
  fieldColumns,
  fieldsTable,
  textsTable,
  type CollectionForm,
  type ColumnValues,
} from './collection-form.ts'
import type { Database, SqlValue } from './database.ts'

type Found = readonly [version: number, live: number]

export interface Current {
  readonly version: number
  readonly live: boolean
}

export class CollectionTables {
  readonly #db: Database
  readonly #sql: Statements
  #changed = false
  /** the fields of type `texts`, with the place of their column */
  readonly #texts: readonly { readonly name: string; readonly place: number }[]

  constructor(db: Database, form: CollectionForm) {
    this.#db = db
    this.#sql = statementsOf(form)
    const columns = fieldColumns(form)
    this.#texts = form.fields
      .filter(({ type }) => type === 'texts')
      .map(({ name, column }) => ({ name, place: columns.indexOf(column) }))
  }

  /** What is there, or was until it was deleted; version 0 when it never was. */
  current(tenant: string, id: string): Current {
    const [version, live] = this.#db.row<Found>(this.#sql.find, tenant, id) ?? [0, 0]
    return { version, live: live === 1 }
  }

  /** What can be searched of a document; null when there is none. */
  searched(tenant: string, id: string): ColumnValues | null {
    return this.#db.row<readonly SqlValue[]>(this.#sql.fields, tenant, id) ?? null
  }

  /** True once after something that can be searched has changed. */
  takeChanged(): boolean {
    const changed = this.#changed
    this.#changed = false
    return changed
  }

  /** Gives the new version. */
  put(tenant: string, id: string, body: string, fields: ColumnValues): number {
    const [version = 0] = this.#db.row<[number]>(this.#sql.put, tenant, id, body) ?? []
    this.#index(tenant, id, fields, version === 1)
    return version
  }

  /** True when there was one. */
  delete(tenant: string, id: string): boolean {
    if (this.#db.run(this.#sql.bury, tenant, id) === 0) return false
    if (this.#texts.length > 0) this.#retext(tenant, id, [], false)
    this.#db.run(this.#sql.unindex, tenant, id)
    this.#changed = true
    return true
  }

  /** Writes what can be searched of a document that was read a while ago, unless it was written or deleted since. */
  fill(tenant: string, id: string, fields: ColumnValues): void {
    if (!this.current(tenant, id).live || this.#db.row(this.#sql.fields, tenant, id) !== undefined) return
    this.#index(tenant, id, fields, true)
  }

  /** Writes what can be searched of a document; `isNew`: there is nothing yet. */
  #index(tenant: string, id: string, fields: ColumnValues, isNew: boolean): void {
    if (this.#texts.length > 0) this.#retext(tenant, id, fields, isNew)
    if (this.#db.run(this.#sql.index, tenant, id, ...fields) > 0) this.#changed = true
  }

  /** Brings `t_x` from what the document had to what it has. */
  #retext(tenant: string, id: string, fields: ColumnValues, isNew: boolean): void {
    const before = isNew ? [] : (this.searched(tenant, id) ?? [])
    for (const { name, place } of this.#texts) {
      const [old = null, now = null] = [before[place], fields[place]]
      if (old === now) continue
      const [had, has] = [new Set(entries(old)), new Set(entries(now))]
      for (const value of had) if (!has.has(value)) this.#db.run(this.#sql.untext, tenant, name, value, id)
      for (const value of has) if (!had.has(value)) this.#db.run(this.#sql.text, tenant, name, value, id)
    }
  }
}

function entries(text: SqlValue): readonly string[] {
  return typeof text === 'string' ? (JSON.parse(text) as readonly string[]) : []
}

type Statements = ReturnType<typeof statementsOf>

function statementsOf(form: CollectionForm) {
  const [documents, fields, texts] = [documentsTable(form), fieldsTable(form), textsTable(form)]
  const columns = fieldColumns(form)
  const places = columns.map(() => ', ?').join('')
  const list = columns.map((column) => `, ${column}`).join('')
  // An update that changes no field leaves the indexes alone: most writes of a document change none.
  const update = `DO UPDATE SET ${columns.map((column) => `${column} = excluded.${column}`).join(', ')}
    WHERE ${columns.map((column) => `${column} IS NOT excluded.${column}`).join(' OR ')}`
  return {
    find: `SELECT version, body IS NOT NULL FROM ${documents} WHERE tenant = ? AND id = ?`,
    put: `INSERT INTO ${documents} (tenant, id, version, body) VALUES (?, ?, 1, ?)
          ON CONFLICT (tenant, id) DO UPDATE SET version = version + 1, body = excluded.body RETURNING version`,
    bury: `UPDATE ${documents} SET body = NULL WHERE tenant = ? AND id = ? AND body IS NOT NULL`,
    index: `INSERT INTO ${fields} (tenant, id${list}) VALUES (?, ?${places}) ON CONFLICT (tenant, id) ${update}`,
    unindex: `DELETE FROM ${fields} WHERE tenant = ? AND id = ?`,
    fields: `SELECT ${columns.join(', ')} FROM ${fields} WHERE tenant = ? AND id = ?`,
    text: `INSERT INTO ${texts} (tenant, field, value, id) VALUES (?, ?, ?, ?)`,
    untext: `DELETE FROM ${texts} WHERE tenant = ? AND field = ? AND value = ? AND id = ?`,
  }
}
