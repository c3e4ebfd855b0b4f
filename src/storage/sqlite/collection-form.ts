/**
 * How the fields of a collection lie in its tables. Columns are named by the field's place, so that no name of a caller
 * gets into SQL.
 *
 * Per collection `x`: `c_x` has the documents (a deleted one keeps its row without a body, so that its version is never
 * used again), `f_x` one narrow row of fields per document with an index per field, and `t_x` the entries of `texts`.
 */
import { foldCase } from '../order.ts'
import type { FieldType, FieldValue, KnownSpec } from '../spec.ts'
import type { SqlValue } from './database.ts'

export interface CollectionForm {
  readonly name: string
  readonly version: number
  readonly fields: readonly FormField[]
}

export interface FormField {
  readonly name: string
  readonly type: FieldType
  /** its column in `f_x`; the second is the lower case of a text where that differs, or the longitude of a place */
  readonly column: string
  readonly second: string | undefined
}

export function formOf({ name, version, fields }: KnownSpec): CollectionForm {
  return {
    name,
    version,
    fields: fields.map(({ name: field, type, index }): FormField => {
      const second = type === 'text' ? `l${index}` : type === 'place' ? `g${index}` : undefined
      return { name: field, type, column: `f${index}`, second }
    }),
  }
}

/** Equal for two forms whose tables are the same. */
export function formText(form: CollectionForm): string {
  return JSON.stringify(form.fields.map(({ name, type }) => [name, type]))
}

export const documentsTable = (form: CollectionForm): string => `c_${form.name}`
export const fieldsTable = (form: CollectionForm): string => `f_${form.name}`
export const textsTable = (form: CollectionForm): string => `t_${form.name}`
export const indexOf = (form: CollectionForm, field: FormField): string => `i_${form.name}_${field.column}`

/** The columns of `f_x` after tenant and id, in the order of `columnValues`; `low` is the lower case of the id. */
export function fieldColumns(form: CollectionForm): readonly string[] {
  return ['low', ...form.fields.flatMap(({ column, second }) => (second === undefined ? [column] : [column, second]))]
}

const COLUMN_TYPES = { text: 'TEXT', number: 'REAL', texts: 'TEXT', place: 'REAL' } as const

/** Makes the field tables of a collection; those of an older form must be gone. */
export function createFieldTables(form: CollectionForm): string {
  const columns = form.fields.flatMap(({ type, column, second }) =>
    [column, second].filter((name) => name !== undefined).map((name) => `, ${name} ${COLUMN_TYPES[type]}`),
  )
  const indexes = form.fields.flatMap((field) => {
    const { type, column, second } = field
    if (type === 'texts') return []
    const place = type === 'place' ? `, ${second}` : ''
    return [`CREATE INDEX ${indexOf(form, field)} ON ${fieldsTable(form)} (tenant, ${column}${place});`]
  })
  return `
    CREATE TABLE ${fieldsTable(form)} (
      tenant TEXT NOT NULL, id TEXT NOT NULL, low TEXT${columns.join('')}, PRIMARY KEY (tenant, id)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE ${textsTable(form)} (
      tenant TEXT NOT NULL, field TEXT NOT NULL, value TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (tenant, field, value, id)
    ) STRICT, WITHOUT ROWID;
    ${indexes.join('\n')}`
}

/**
 * What `f_x` holds of a document; `texts` as a JSON array, null when empty. A lower case is null when it is the text
 * itself, as it mostly is.
 */
export function columnValues({ fields }: CollectionForm, id: string, values: readonly FieldValue[]): ColumnValues {
  const columns: SqlValue[] = [foldedCase(id)]
  for (const [place, { type }] of fields.entries()) {
    const value = values[place]
    if (type === 'text') columns.push(...(typeof value === 'string' ? [value, foldedCase(value)] : [null, null]))
    else if (type === 'number') columns.push(typeof value === 'number' ? value : null)
    else if (typeof value !== 'object') columns.push(...(type === 'place' ? [null, null] : [null]))
    else if ('lat' in value) columns.push(value.lat, value.lng)
    else columns.push(JSON.stringify(value))
  }
  return columns
}

function foldedCase(text: string): string | null {
  const folded = foldCase(text)
  return folded === text ? null : folded
}

export type ColumnValues = readonly SqlValue[]
