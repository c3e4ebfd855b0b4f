/**
 * How the fields of a collection lie in its tables. Columns are named by the field's place, so that no name of a caller
 * gets into SQL.
 *
 * Per collection `x`: `c_x` has the documents (a deleted one keeps its row without a body, so that its version is never
 * used again), `f_x` one narrow row of fields per document with an index per field and per list of fields that are asked
 * about together, and `t_x` the entries of `texts`.
 */
import { foldCase } from '../order.ts'
import type { FieldType, FieldValue, KnownField, KnownSpec } from '../spec.ts'
import type { SqlValue } from './database.ts'

export interface CollectionForm {
  readonly name: string
  readonly version: number
  readonly fields: readonly FormField[]
  /** lists of fields that are asked about together */
  readonly together: readonly (readonly FormField[])[]
}

export interface FormField {
  readonly name: string
  readonly type: FieldType
  /** its column in `f_x`; the second is the lower case of a text where that differs, or the longitude of a place */
  readonly column: string
  readonly second: string | undefined
}

export function formOf({ name, version, fields, together }: KnownSpec): CollectionForm {
  return { name, version, fields: fields.map(formFieldOf), together: together.map((list) => list.map(formFieldOf)) }
}

function formFieldOf({ name, type, index }: KnownField): FormField {
  const second = type === 'text' ? `l${index}` : type === 'place' ? `g${index}` : undefined
  return { name, type, column: `f${index}`, second }
}

/** Equal for two forms whose tables are the same. */
export function formText(form: CollectionForm): string {
  const fields = form.fields.map(({ name, type }) => [name, type])
  const together = form.together.map((list) => list.map(({ name }) => name))
  // Those that were made before there were lists stay as they are.
  return JSON.stringify(together.length === 0 ? fields : [fields, together])
}

export const documentsTable = (form: CollectionForm): string => `c_${form.name}`
export const fieldsTable = (form: CollectionForm): string => `f_${form.name}`
export const textsTable = (form: CollectionForm): string => `t_${form.name}`
/** Of a field. One of several fields that begins with it stands for it: each index costs every write. */
export function indexOf(form: CollectionForm, field: FormField): string {
  const place = form.together.findIndex(([first]) => first?.name === field.name)
  return place < 0 ? `i_${form.name}_${field.column}` : togetherIndexOf(form, place)
}

export const togetherIndexOf = (form: CollectionForm, place: number): string => `i_${form.name}_t${place}`

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
    if (type === 'texts' || form.together.some(([first]) => first?.name === field.name)) return []
    const place = type === 'place' ? `, ${second}` : ''
    return [`CREATE INDEX ${indexOf(form, field)} ON ${fieldsTable(form)} (tenant, ${column}${place});`]
  })
  for (const [place, list] of form.together.entries()) {
    const names = list.map(({ column }) => column).join(', ')
    indexes.push(`CREATE INDEX ${togetherIndexOf(form, place)} ON ${fieldsTable(form)} (tenant, ${names});`)
  }
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

/** The values of a document's fields, by the index of the field, as `columnValues` wrote them. */
export function valuesOfColumns(form: CollectionForm, columns: ColumnValues): readonly FieldValue[] {
  // The first is the lower case of the id.
  let at = 1
  return form.fields.map(({ type, second }): FieldValue => {
    const [value = null, more = null] = columns.slice(at, at + 2)
    at += second === undefined ? 1 : 2
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
