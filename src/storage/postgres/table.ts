/** Builds the name and statements for the table of one collection. */
import type { FieldValue, KnownSpec } from '../spec.ts'
import { columnsOf, foldedOrNull, tableDefinition } from './columns.ts'
import type { Statement } from './database.ts'
import { identifier } from './sql-text.ts'

export interface Row {
  readonly tenant: string
  readonly id: string
  readonly version: number
  readonly alive: boolean
  readonly body: string | null
  /** values by index of the field */
  readonly fields: readonly FieldValue[]
}

interface RowColumn {
  readonly name: string
  readonly sent: string
  readonly cast: string
  readonly of: (row: Row) => string | number | boolean | null
}

const OWN: readonly RowColumn[] = [
  { name: 'tenant', sent: 'text', cast: '', of: (row) => row.tenant },
  { name: 'id', sent: 'text', cast: '', of: (row) => row.id },
  { name: 'version', sent: 'bigint', cast: '', of: (row) => row.version },
  { name: 'alive', sent: 'boolean', cast: '', of: (row) => row.alive },
  { name: 'body', sent: 'text', cast: '', of: (row) => row.body },
  { name: 'folded_id', sent: 'text', cast: '', of: (row) => foldedOrNull(row.id) },
]

export class Table {
  readonly spec: KnownSpec
  /** Includes the version: a host with an older specification cannot write documents without the newer fields. */
  readonly name: string
  readonly definition: readonly string[]
  readonly #columns: readonly RowColumn[]
  readonly #insert: string
  readonly #update: string

  constructor(schema: string, spec: KnownSpec) {
    this.spec = spec
    this.name = Table.nameOf(schema, spec.name, spec.version)
    this.definition = tableDefinition(this.name, spec)
    const ofFields = spec.fields.flatMap((field) =>
      columnsOf(field).map(({ name, type, sent, of }): RowColumn => {
        const cast = type.endsWith('[]') ? `::${type}` : ''
        return { name, sent, cast, of: (row) => of(row.fields[field.index]) }
      }),
    )
    this.#columns = [...OWN, ...ofFields]
    const names = this.#columns.map(({ name }) => name).join(', ')
    const values = this.#columns.map(({ name, cast }) => `r.${name}${cast}`)
    const sent = this.#columns.map((column, index) => `$${index + 1}::${column.sent}[]`)
    const rows = `unnest(${sent.join(', ')}) as r(${names})`
    const changes = this.#columns.map(({ name }, index) => `${name} = ${values[index] ?? ''}`).slice(2)
    this.#insert = `insert into ${this.name} (${names}) select ${values.join(', ')} from ${rows}`
    this.#update = `update ${this.name} as t set ${changes.join(', ')} from ${rows} where t.tenant = r.tenant and t.id = r.id`
  }

  static nameOf(schema: string, collection: string, version: number): string {
    return `${schema}.${identifier(`c_${collection}_${version}`)}`
  }

  /** The searchable fields as text; equal texts mean equal tables. */
  get shape(): string {
    return this.spec.fields
      .map(({ name, type }) => `${name}: ${type}`)
      .sort()
      .join(', ')
  }

  insert(rows: readonly Row[]): Statement {
    return { name: this.#nameOf('insert'), text: this.#insert, values: this.#sent(rows) }
  }

  update(rows: readonly Row[]): Statement {
    return { name: this.#nameOf('update'), text: this.#update, values: this.#sent(rows) }
  }

  #nameOf(what: string): string {
    return `${what} ${this.spec.name} ${this.spec.version}`
  }

  #sent(rows: readonly Row[]): unknown[] {
    return this.#columns.map(({ of }) => rows.map(of))
  }
}
