/** How the fields of a collection lie in its table. */
import type { CollectionSpec, Document, Field } from '../contract.ts'
import { identifier } from './sql-text.ts'

export interface Column {
  /** as SQL reads it */
  readonly name: string
  readonly type: string
  /** the type of one value on its way in; a list of lists would be flattened */
  readonly sent: string
}

/**
 * The columns of a field: of a text, itself and its folded form where that differs; of a place, latitude and
 * longitude; of the others, one. Prefixes keep them apart from each other and from the table's own columns.
 */
export function columnNames(field: string, type: Field<never>['type']): readonly [first: string, second: string] {
  if (type === 'place') return [identifier(`lat_${field}`), identifier(`lng_${field}`)]
  return [identifier(`f_${field}`), identifier(`folded_${field}`)]
}

export function columnsOf(spec: CollectionSpec<never>): readonly Column[] {
  return Object.entries(spec.fields).flatMap(([field, { type }]): readonly Column[] => {
    const [first, second] = columnNames(field, type)
    switch (type) {
      case 'text':
        return [textColumn(first), textColumn(second)]
      case 'number':
        return [doubleColumn(first)]
      case 'texts':
        return [{ name: first, type: 'text[]', sent: 'text' }]
      case 'place':
        return [doubleColumn(first), doubleColumn(second)]
    }
  })
}

/** What makes a table and its indexes; each index begins with the tenant, as each question does. */
export function tableDefinition<D extends Document>(table: string, spec: CollectionSpec<D>): readonly string[] {
  const columns = columnsOf(spec).map(({ name, type }) => `, ${name} ${type}`)
  const indexes = Object.entries(spec.fields).map(([field, { type }]) => {
    const [first, second] = columnNames(field, type)
    if (type === 'texts') return `create index on ${table} using gin (${first}) where alive`
    return `create index on ${table} (tenant, ${first}, ${type === 'place' ? second : 'id'}) where alive`
  })
  return [
    // A deleted document leaves its version, so that the next one goes on from there (S2)
    `create table ${table} (
       tenant text collate "C", id text collate "C", version bigint not null, alive boolean not null,
       body text, folded_id text collate "C"${columns.join('')},
       primary key (tenant, id)
     ) with (fillfactor = 80)`,
    ...indexes,
  ]
}

function textColumn(name: string): Column {
  return { name, type: 'text collate "C"', sent: 'text' }
}

function doubleColumn(name: string): Column {
  return { name, type: 'double precision', sent: 'double precision' }
}
