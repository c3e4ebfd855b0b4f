/** Runs long reads of documents on a reader's connection, inside the transaction of the caller. */
import type { AppError } from '#kernel'
import type { Condition } from '../contract.ts'
import { documentsTable, fieldsTable, textsTable, type CollectionForm } from './collection-form.ts'
import { entriesSql, fieldOf, isWide, isWideField } from './condition-sql.ts'
import { damaged } from '../damage.ts'
import { sumOf } from './checksum.ts'
import type { Database } from './database.ts'
import { sourceOfCount, sourceOfPage } from './query-plan.ts'

export type DocumentRow = readonly [id: string, version: number, body: string, sum: number]

/** Documents as columns, which transfer fast between threads. */
export interface DocumentColumns {
  readonly ids: readonly string[]
  readonly versions: Float64Array<ArrayBuffer>
  readonly bodies: readonly string[]
}

interface CollectionOfTenant {
  readonly form: CollectionForm
  readonly tenant: string
}

export interface PageQuery {
  readonly where: readonly Condition[]
  readonly sort: readonly { readonly field: string; readonly descending: boolean }[]
  readonly offset: number
  readonly limit: number
  readonly afterId: string | undefined
}

interface PageRead extends CollectionOfTenant {
  readonly kind: 'find' | 'ids'
  readonly query: PageQuery
}

interface GetManyRead extends CollectionOfTenant {
  readonly kind: 'getMany'
  readonly ids: readonly string[]
}

interface CountRead extends CollectionOfTenant {
  readonly kind: 'count'
  readonly where: readonly Condition[]
}

interface CountByRead extends CollectionOfTenant {
  readonly kind: 'countBy'
  readonly field: string
  readonly where: readonly Condition[]
}

/** Reads stored documents of all tenants after a key, to compute their fields again. */
interface WalkRead {
  readonly kind: 'walk'
  readonly form: CollectionForm
  readonly after: number
}

export type DocumentsRead = PageRead | GetManyRead | CountRead | CountByRead | WalkRead

export type WalkedRow = readonly [key: number, tenant: string, id: string, body: string]

/** Most documents, and most characters, in a page of a walk. */
const WALK_DOCUMENTS = 500
const WALK_CHARACTERS = 2 * 1024 * 1024

export function readDocuments(db: Database, read: DocumentsRead): unknown {
  switch (read.kind) {
    case 'find':
      return find(db, read)
    case 'getMany':
      return getMany(db, read)
    case 'ids':
      return page(db, read).map(([id]) => id)
    case 'count':
      return count(db, read)
    case 'countBy':
      return countBy(db, read)
    case 'walk':
      return walk(db, read)
  }
}

function find(db: Database, read: PageRead): DocumentColumns {
  const found = page(db, read)
  const keys = JSON.stringify(found.map(([, key]) => key))
  const columns = rowsOf(db, read, 'd.key = listed.value', [keys])
  const missing = found.find(([id], i) => columns.ids[i] !== id)
  // fields and documents are written together, so a document without its row is damage
  if (missing !== undefined) throw damagedDocument(read.form.name, read.tenant, missing[0])
  return columns
}

function getMany(db: Database, read: GetManyRead): DocumentColumns {
  const columns = rowsOf(db, read, 'd.id = listed.value AND d.tenant = ?', [JSON.stringify(read.ids), read.tenant])
  const requested = new Set(read.ids)
  const other = columns.ids.find((id) => !requested.has(id))
  if (other !== undefined) throw damagedDocument(read.form.name, read.tenant, other)
  return columns
}

/** Returns documents in the order of their keys. One statement is much faster than many. */
function rowsOf(
  db: Database,
  { form, tenant }: CollectionOfTenant,
  are: string,
  values: readonly string[],
): DocumentColumns {
  const from = `FROM json_each(?) AS listed CROSS JOIN ${documentsTable(form)} AS d ON ${are} AND d.body IS NOT NULL`
  const rows = db.rows<DocumentRow>(`SELECT d.id, d.version, d.body, d.sum ${from}`, ...values)
  for (const row of rows) checkDocument(form, tenant, row[0], row)
  return {
    ids: rows.map(([id]) => id),
    versions: Float64Array.from(rows, ([, version]) => version),
    bodies: rows.map(([, , body]) => body),
  }
}

function page(db: Database, { form, tenant, query }: PageRead): readonly (readonly [id: string, key: number])[] {
  const { where: conditions, sort, afterId, offset, limit } = query
  if (limit === 0) return []
  const after: readonly Condition[] =
    afterId === undefined || afterId === '' ? [] : [{ field: 'id', op: 'gt', value: afterId }]
  const where = [...conditions, ...after]
  const wide = where.some((one) => isWide(form, one)) || sort.some(({ field }) => isWideField(form, field))
  const source = sourceOfPage({ db, form, tenant, where, wide }, sort[0], offset + limit)
  const order = sort.map(({ field, descending }, index) =>
    index === 0 && source.first !== undefined ? `${source.first} DESC` : orderText(form, field, descending),
  )
  const sql = `
    SELECT f.id, f.key FROM ${source.from} WHERE f.tenant = ? AND ${source.where.text}
    ORDER BY ${[...order, 'f.id'].join(', ')} LIMIT 0 + ? OFFSET ?`
  return db.rows<[string, number]>(sql, tenant, ...source.where.values, limit, offset)
}

function count(db: Database, { form, tenant, where: conditions }: CountRead): number {
  const [only] = conditions
  const entries = only !== undefined && conditions.length === 1 ? entriesSql(form, tenant, only) : undefined
  if (entries?.single === true) {
    const sql = `SELECT count(*) FROM ${textsTable(form)} AS t WHERE ${entries.text}`
    return db.row<[number]>(sql, ...entries.values)?.[0] ?? 0
  }
  const wide = conditions.some((one) => isWide(form, one))
  const { from, where } = sourceOfCount({ db, form, tenant, where: conditions, wide })
  const sql = `SELECT count(*) FROM ${from} WHERE f.tenant = ? AND ${where.text}`
  return db.row<[number]>(sql, tenant, ...where.values)?.[0] ?? 0
}

/** Absent values come last; descending, that is SQLite's default, and only the default uses the index. */
function orderText(form: CollectionForm, name: string, descending: boolean): string {
  const { field, column } = fieldOf(form, name)
  if (descending) return `${column} DESC`
  return field === 'id' ? column : `${column} ASC NULLS LAST`
}

function countBy(
  db: Database,
  { form, tenant, field, where: conditions }: CountByRead,
): readonly (readonly [string, number])[] {
  const { column } = fieldOf(form, field)
  const wide = isWideField(form, field) || conditions.some((one) => isWide(form, one))
  const plain = { from: `${fieldsTable(form)} AS f`, where: { text: 'TRUE', values: [] } }
  const { from, where } =
    conditions.length === 0 && !wide ? plain : sourceOfCount({ db, form, tenant, where: conditions, wide })
  const sql = `SELECT ${column}, count(*) FROM ${from} WHERE f.tenant = ? AND ${column} IS NOT NULL AND ${where.text} GROUP BY ${column}`
  return db.rows<[string, number]>(sql, tenant, ...where.values)
}

function walk(db: Database, { form, after }: WalkRead): readonly WalkedRow[] {
  const sql = `SELECT key, tenant, id, body, version, sum FROM ${documentsTable(form)} WHERE key > ? AND body IS NOT NULL ORDER BY key LIMIT 0 + ?`
  const rows: WalkedRow[] = []
  let characters = 0
  const found = db.statement(sql).iterate(after, WALK_DOCUMENTS) as unknown as Iterable<
    readonly [...WalkedRow, version: number, sum: number]
  >
  for (const [key, tenant, id, body, version, sum] of found) {
    checkDocument(form, tenant, id, [id, version, body, sum])
    rows.push([key, tenant, id, body])
    characters += body.length
    if (characters > WALK_CHARACTERS) break
  }
  return rows
}

export function checkDocument(
  { name }: CollectionForm,
  tenant: string,
  requested: string,
  [id, version, body, sum]: DocumentRow,
): void {
  if (id !== requested || sumOf([], tenant, id, body) !== sum - version) throw damagedDocument(name, tenant, requested)
}

function damagedDocument(collection: string, tenant: string, id: string): AppError {
  return damaged(`The document ${collection}/${id} of the tenant ${tenant}`)
}
