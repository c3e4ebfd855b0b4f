/**
 * Defines the tables of a collection. Columns are named by the index of the field, so SQL never contains input.
 *
 * For a collection `x`: `c_x` stores documents (a deleted one keeps its row, for its version); `f_x` a narrow row of
 * fields with indexes; `w_x` wide values (lists, unindexed texts); `t_x` the entries of `texts`. All are keyed by
 * the document's integer key in `c_x`.
 */
import { foldCase } from '../order.ts'
import type { FieldType, FieldValue, KnownField, KnownSpec } from '../spec.ts'
import type { SqlValue } from './database.ts'

export interface CollectionForm {
  readonly name: string
  readonly version: number
  readonly fields: readonly FormField[]
  readonly together: readonly (readonly FormField[])[]
  /** the number by which the entries of each text are sorted: the last field of the first combined index */
  readonly rank: FormField | undefined
}

export interface FormField {
  readonly name: string
  readonly type: FieldType
  /** `second`: the lower case of a text where different, or the longitude of a place */
  readonly column: string
  readonly second: string | undefined
  readonly unindexed: boolean
}

export function formOf({ name, version, fields, together }: KnownSpec): CollectionForm {
  const lists = together.map((list) => list.map(formFieldOf))
  const last = lists[0]?.at(-1)
  const rank = last?.type === 'number' ? last : undefined
  return { name, version, fields: fields.map(formFieldOf), together: lists, rank }
}

function formFieldOf({ name, type, index, unindexed }: KnownField): FormField {
  const second = type === 'text' ? `l${index}` : type === 'place' ? `g${index}` : undefined
  return { name, type, column: `f${index}`, second, unindexed }
}

/** Equal texts mean equal tables. */
export function formText(form: CollectionForm): string {
  const fields = form.fields.map(({ name, type, unindexed }) => [name, type, unindexed])
  const together = form.together.map((list) => list.map(({ name }) => name))
  return JSON.stringify([fields, together])
}

export const documentsTable = (form: CollectionForm): string => `c_${form.name}`
export const fieldsTable = (form: CollectionForm): string => `f_${form.name}`
export const wideTable = (form: CollectionForm): string => `w_${form.name}`
export const textsTable = (form: CollectionForm): string => `t_${form.name}`
export const idsIndexOf = (form: CollectionForm): string => `i_${form.name}_id`
/** A combined index if one begins with the field, since every further index slows down writes. */
export function indexOf(form: CollectionForm, field: FormField): string {
  const index = form.together.findIndex(([first]) => first?.name === field.name)
  return index < 0 ? `i_${form.name}_${field.column}` : togetherIndexOf(form, index)
}

export const togetherIndexOf = (form: CollectionForm, index: number): string => `i_${form.name}_t${index}`

/** Returns the columns of `f_x` after key, tenant and id; `low` is the lower case of the id. */
export function narrowColumns({ fields }: CollectionForm): readonly string[] {
  return ['low', ...fields.filter(({ unindexed }) => !unindexed).flatMap(columnsOf)]
}

export function wideColumns({ fields }: CollectionForm): readonly string[] {
  return fields.filter(({ unindexed }) => unindexed).flatMap(columnsOf)
}

function columnsOf({ column, second }: FormField): readonly string[] {
  return second === undefined ? [column] : [column, second]
}

const COLUMN_TYPES = { text: 'TEXT', number: 'REAL', texts: 'TEXT', place: 'REAL' } as const

/** SQL that creates the table of documents if it does not exist. `table`: the form's `documentsTable`. */
export const documentsSql = (table: string): string => `
  CREATE TABLE IF NOT EXISTS ${table} (
    key INTEGER PRIMARY KEY, tenant TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, body TEXT, sum INTEGER,
    UNIQUE (tenant, id)
  ) STRICT;`

export function createFieldTables(form: CollectionForm): string {
  const [fields, wide, texts] = [fieldsTable(form), wideTable(form), textsTable(form)]
  const typed = (unindexed: boolean): string =>
    form.fields
      .filter((field) => field.unindexed === unindexed)
      .flatMap((field) => columnsOf(field).map((column) => `, ${column} ${COLUMN_TYPES[field.type]}`))
      .join('')
  const indexes = form.fields.flatMap((field) => {
    const { type, column, second, unindexed } = field
    if (unindexed || form.together.some(([first]) => first?.name === field.name)) return []
    const longitude = type === 'place' ? `, ${second}` : ''
    return [`CREATE INDEX ${indexOf(form, field)} ON ${fields} (tenant, ${column}${longitude});`]
  })
  for (const [index, list] of form.together.entries()) {
    const names = list.map(({ column }) => column).join(', ')
    indexes.push(`CREATE INDEX ${togetherIndexOf(form, index)} ON ${fields} (tenant, ${names});`)
  }
  return `
    DROP TABLE IF EXISTS ${fields};
    DROP TABLE IF EXISTS ${wide};
    DROP TABLE IF EXISTS ${texts};
    CREATE TABLE ${fields} (
      key INTEGER PRIMARY KEY, tenant TEXT NOT NULL, id TEXT NOT NULL, low TEXT${typed(false)}
    ) STRICT;
    CREATE UNIQUE INDEX ${idsIndexOf(form)} ON ${fields} (tenant, id);
    CREATE TABLE ${wide} (key INTEGER PRIMARY KEY${typed(true)}) STRICT;
    CREATE TABLE ${texts} (
      tenant TEXT NOT NULL, field TEXT NOT NULL, value TEXT NOT NULL, rank REAL NOT NULL, key INTEGER NOT NULL,
      PRIMARY KEY (tenant, field, value, rank, key)
    ) STRICT, WITHOUT ROWID;
    ${indexes.join('\n')}`
}

/** The columns of `f_x`, then of `w_x`; null stands for an empty list, or a lower case that equals the text. */
export function columnValues({ fields }: CollectionForm, id: string, values: readonly FieldValue[]): ColumnValues {
  const narrow: SqlValue[] = [foldedCase(id)]
  const wide: SqlValue[] = []
  for (const [index, { type, unindexed }] of fields.entries()) {
    const value = values[index]
    const columns = unindexed ? wide : narrow
    if (type === 'text') columns.push(...(typeof value === 'string' ? [value, foldedCase(value)] : [null, null]))
    else if (type === 'number') columns.push(typeof value === 'number' ? value : null)
    else if (typeof value !== 'object') columns.push(...(type === 'place' ? [null, null] : [null]))
    else if ('lat' in value) columns.push(value.lat, value.lng)
    else columns.push(JSON.stringify(value))
  }
  return [...narrow, ...wide]
}

/** The inverse of `columnValues`. */
export function valuesOfColumns(form: CollectionForm, columns: ColumnValues): readonly FieldValue[] {
  // the first column is the lower case of the id
  let narrow = 1
  let wide = narrowColumns(form).length
  return form.fields.map(({ type, second, unindexed }): FieldValue => {
    const at = unindexed ? wide : narrow
    const [value = null, more = null] = columns.slice(at, at + 2)
    const width = second === undefined ? 1 : 2
    if (unindexed) wide += width
    else narrow += width
    if (type === 'place')
      return typeof value === 'number' && typeof more === 'number' ? { lat: value, lng: more } : undefined
    if (type === 'texts') return typeof value === 'string' ? (JSON.parse(value) as readonly string[]) : undefined
    return typeof value === 'string' || typeof value === 'number' ? value : undefined
  })
}

function foldedCase(text: string): string | null {
  const folded = foldCase(text)
  return folded === text ? null : folded
}

export type ColumnValues = readonly SqlValue[]
