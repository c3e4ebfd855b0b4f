/** Maps the fields of a collection to columns. */
import { foldCase } from '../order.ts'
import type { FieldValue, KnownField, KnownSpec } from '../spec.ts'
import { identifier, textArray } from './sql-text.ts'

type Cell = string | number | null

export interface Column {
  /** column name, quoted for SQL */
  readonly name: string
  readonly type: string
  /** type in which one value is sent as a parameter; a list of lists would be flattened */
  readonly sent: string
  readonly of: (value: FieldValue) => Cell
}

/** A text has a second column for its folded form if different; a place has latitude and longitude. */
export function columnNames({ name, type }: KnownField): readonly [first: string, second: string] {
  if (type === 'place') return [identifier(`lat_${name}`), identifier(`lng_${name}`)]
  return [identifier(`f_${name}`), identifier(`folded_${name}`)]
}

export function columnsOf(field: KnownField): readonly Column[] {
  const [first, second] = columnNames(field)
  switch (field.type) {
    case 'text':
      return [
        { ...TEXT, name: first, of: (value) => (typeof value === 'string' ? value : null) },
        { ...TEXT, name: second, of: (value) => (typeof value === 'string' ? foldedOrNull(value) : null) },
      ]
    case 'number':
      return [{ ...DOUBLE, name: first, of: (value) => (typeof value === 'number' ? value : null) }]
    case 'texts':
      return [{ name: first, type: 'text[]', sent: 'text', of: (value) => (isTexts(value) ? textArray(value) : null) }]
    case 'place':
      return [
        { ...DOUBLE, name: first, of: (value) => (isPlace(value) ? value.lat : null) },
        { ...DOUBLE, name: second, of: (value) => (isPlace(value) ? value.lng : null) },
      ]
  }
}

/** Combined fields get no index of their own: long texts would not fit into one key. */
export function tableDefinition(table: string, { fields }: KnownSpec): readonly string[] {
  const columns = fields.flatMap(columnsOf).map(({ name, type }) => `, ${name} ${type}`)
  const indexes = fields.map((field) => {
    const [first, second] = columnNames(field)
    if (field.type === 'texts') return `create index on ${table} using gin (${first}) where alive`
    return `create index on ${table} (tenant, ${first}, ${field.type === 'place' ? second : 'id'}) where alive`
  })
  return [
    // a deleted document keeps its version, which the next document with the id continues (STORE-2)
    `create table ${table} (
       tenant text collate "C", id text collate "C", version bigint not null, alive boolean not null,
       body text, folded_id text collate "C"${columns.join('')},
       primary key (tenant, id)
     ) with (fillfactor = 80)`,
    ...indexes,
  ]
}

export function foldedOrNull(text: string): string | null {
  const folded = foldCase(text)
  return folded === text ? null : folded
}

const TEXT = { type: 'text collate "C"', sent: 'text' } as const
const DOUBLE = { type: 'double precision', sent: 'double precision' } as const

function isTexts(value: FieldValue): value is readonly string[] {
  return Array.isArray(value)
}

function isPlace(value: FieldValue): value is Extract<FieldValue, { readonly lat: number }> {
  return typeof value === 'object' && 'lat' in value
}
