/** Creates tables of collections on first use, and rewrites documents after a change of specification. */
import { AppError } from '#kernel'
import type { Document } from '../contract.ts'
import { Problems } from '../problems.ts'
import { readFields, type KnownSpec } from '../spec.ts'
import { newerError } from '../tenant.ts'
import type { Answer, Database } from './database.ts'
import { Table, type Row } from './table.ts'

/** documents per page */
const SLICE = 100

type Query = Database['query']

interface Registered {
  readonly version: number
  readonly shape: string
}

export class Tables {
  readonly #database: Database
  readonly #tables = new Map<string, Table>()
  readonly #ready = new Map<Table, Promise<void>>()

  constructor(database: Database) {
    this.#database = database
  }

  /** Returns the table of a collection, which may not exist yet. */
  of(spec: KnownSpec): Table {
    let table = this.#tables.get(spec.name)
    if (table === undefined) {
      table = new Table(this.#database.schema, spec)
      this.#tables.set(spec.name, table)
    }
    return table
  }

  /** Throws `STORE` when a newer specification was used. */
  ready(table: Table): Promise<void> {
    let ready = this.#ready.get(table)
    if (ready === undefined) {
      ready = this.#prepare(table)
      this.#ready.set(table, ready)
      ready.catch(() => this.#ready.delete(table))
    }
    return ready
  }

  /** Makes the next use check again, because the table was missing. */
  forget(table: Table): void {
    this.#ready.delete(table)
  }

  async #prepare(table: Table): Promise<void> {
    const { schema } = this.#database
    const { name, version } = table.spec
    const asking = { text: `select version, shape from ${schema}.collections where name = $1`, values: [name] }
    const [known] = await this.#database.read<Registered>(asking)
    if (fits(table, known)) return
    await this.#database.transaction(async (query) => {
      // one host creates the table; others wait for this lock and then find the table
      await query({
        text: 'select pg_advisory_xact_lock(hashtextextended($1, 0))',
        values: [`reflexarc ${schema} ${name}`],
      })
      const [before] = (await query<Registered>(asking)).rows
      if (fits(table, before)) return
      for (const text of table.definition) await query({ text })
      if (before !== undefined) await readAgain(query, Table.nameOf(schema, name, before.version), table)
      await query({
        text: `insert into ${schema}.collections (name, version, shape) values ($1, $2, $3)
               on conflict (name) do update set version = excluded.version, shape = excluded.shape`,
        values: [name, version, table.shape],
      })
    })
  }
}

function fits({ spec, shape }: Table, registered: Registered | undefined): boolean {
  if (registered === undefined || registered.version < spec.version) return false
  if (registered.version > spec.version) throw newerError(spec.name, registered.version, spec.version)
  if (registered.shape === shape) return true
  throw new AppError(
    'VALIDATION',
    `The collection ${spec.name} was stored with specification ${spec.version} and other fields (${registered.shape}; now ${shape}); raise the version of the specification`,
  )
}

/** Concurrent writes wait, and then find the old table missing. */
async function readAgain(query: Query, old: string, table: Table): Promise<void> {
  await query({ text: `lock table ${old} in exclusive mode` })
  let last: { readonly tenant: string; readonly id: string } | undefined = { tenant: '', id: '' }
  while (last !== undefined) {
    const { rows }: Answer<Omit<Row, 'fields'>> = await query({
      text: `select tenant, id, version, alive, body from ${old}
             where (tenant, id) > ($1, $2) order by tenant, id limit ${SLICE}`,
      values: [last.tenant, last.id],
    })
    if (rows.length > 0) await query(table.insert(rows.map((row) => ({ ...row, fields: fieldsOf(table.spec, row) }))))
    last = rows.at(-1)
  }
  await query({ text: `drop table ${old}` })
}

function fieldsOf(spec: KnownSpec, { tenant, id, body }: Omit<Row, 'fields'>): Row['fields'] {
  if (body === null) return []
  const problems = new Problems()
  const fields = readFields(spec, JSON.parse(body) as Document, '', problems)
  problems.throwIfAny(
    `The stored document ${spec.name}/${id} of tenant ${tenant}, read by specification ${spec.version},`,
  )
  return fields
}
