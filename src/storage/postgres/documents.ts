/** Reads documents from a collection's table. */
import { AppError } from '#kernel'
import type { CheckedQuery } from '../check-query.ts'
import type { Condition, Document, Stored } from '../contract.ts'
import { Problems } from '../problems.ts'
import { type KnownField, type KnownSpec, readFields } from '../spec.ts'
import { newerError } from '../tenant.ts'
import { columnNames } from './columns.ts'
import { isLostTable } from './database-errors.ts'
import type { Answer, Database, Statement } from './database.ts'
import { Bindings } from './sql-text.ts'
import { type Row, Table } from './table.ts'
import { allOf } from './where.ts'

interface DocumentRow {
  readonly id: string
  readonly version: number
  readonly body: string
}

export class Documents {
  readonly #database: Database
  readonly #tables: Tables

  constructor(database: Database, tables: Tables) {
    this.#database = database
    this.#tables = tables
  }

  async get<D extends Document>(table: Table, tenant: string, id: string): Promise<Stored<D> | undefined> {
    const [row] = await this.#read<DocumentRow>(table, {
      name: `get ${table.spec.name} ${table.spec.version}`,
      text: `select id, version, body from ${table.name} where tenant = $1 and id = $2 and alive`,
      values: [tenant, id],
    })
    return row && storedOf<D>(row)
  }

  async getMany<D extends Document>(
    table: Table,
    tenant: string,
    ids: readonly string[],
  ): Promise<readonly Stored<D>[]> {
    const rows = await this.#read<DocumentRow>(table, {
      text: `select id, version, body from ${table.name} where tenant = $1 and id = any($2) and alive`,
      values: [tenant, ids],
    })
    const found = new Map(rows.map((row) => [row.id, row]))
    return ids.flatMap((id) => {
      const row = found.get(id)
      return row === undefined ? [] : [storedOf<D>(row)]
    })
  }

  async find<D extends Document>(table: Table, tenant: string, query: CheckedQuery): Promise<readonly Stored<D>[]> {
    const rows = await this.#read<DocumentRow>(table, listing(table, tenant, query, ['id', 'version', 'body']))
    return rows.map((row) => storedOf<D>(row))
  }

  async ids(table: Table, tenant: string, query: CheckedQuery): Promise<readonly string[]> {
    const rows = await this.#read<{ id: string }>(table, listing(table, tenant, query, ['id']))
    return rows.map(({ id }) => id)
  }

  async count(table: Table, tenant: string, where: readonly Condition[]): Promise<number> {
    const bindings = new Bindings()
    const [row] = await this.#read<{ count: number }>(table, {
      text: `select count(*) as count from ${table.name} where ${conditionSql(table, tenant, where, bindings)}`,
      values: bindings.values,
    })
    return row?.count ?? 0
  }

  async countBy(
    table: Table,
    tenant: string,
    field: KnownField,
    where: readonly Condition[],
  ): Promise<ReadonlyMap<string, number>> {
    const bindings = new Bindings()
    const [column] = columnNames(field)
    const rows = await this.#read<{ value: string; count: number }>(table, {
      text: `select ${column} as value, count(*) as count from ${table.name}
             where ${conditionSql(table, tenant, where, bindings)} and ${column} is not null group by 1 order by 1`,
      values: bindings.values,
    })
    return new Map(rows.map(({ value, count }) => [value, count]))
  }

  async #read<Row extends object>(table: Table, statement: Statement): Promise<readonly Row[]> {
    await this.#tables.ready(table)
    try {
      return await this.#database.read<Row>(statement)
    } catch (error) {
      if (isLostTable(error)) this.#tables.forget(table)
      throw error
    }
  }
}

function listing(table: Table, tenant: string, query: CheckedQuery, columns: readonly string[]): Statement {
  const { where, sort, afterId, offset, limit } = query
  const bindings = new Bindings()
  const conditions = conditionSql(table, tenant, where, bindings)
  const after = afterId === undefined ? '' : ` and id > ${bindings.add(afterId, 'text')}`
  const page = `limit ${bindings.add(limit, 'bigint')} offset ${bindings.add(offset, 'bigint')}`
  const order = [...sort.map((one) => `${sortColumn(one)}${one.descending ? ' desc nulls last' : ''}`), 'id'].join(', ')
  const from = `from ${table.name} where ${conditions}${after}`
  const [first] = sort
  if (first === undefined || first.field === 'id' || !first.descending) {
    return { text: `select ${columns.join(', ')} ${from} order by ${order} ${page}`, values: bindings.values }
  }
  // an index scanned backwards starts with absent values, so present and absent ones are read separately
  const column = sortColumn(first)
  const most = `limit ${bindings.add(limit + offset, 'bigint')}`
  const carried = [...new Set([...columns, 'id', ...sort.map(sortColumn)])].join(', ')
  const filled = `select ${carried} ${from} and ${column} is not null order by ${order.replace(' nulls last', '')} ${most}`
  const absent = `select ${carried} ${from} and ${column} is null order by ${order} ${most}`
  const text = `select ${columns.join(', ')} from ((${filled}) union all (${absent})) as found order by ${order} ${page}`
  return { text, values: bindings.values }
}

function sortColumn({ field }: CheckedQuery['sort'][number]): string {
  return field === 'id' ? 'id' : columnNames(field)[0]
}

function conditionSql(table: Table, tenant: string, where: readonly Condition[], bindings: Bindings): string {
  const mine = `tenant = ${bindings.add(tenant, 'text')} and alive`
  return where.length === 0 ? mine : `${mine} and ${allOf(where, table.spec, bindings)}`
}

function storedOf<D extends Document>({ id, version, body }: DocumentRow): Stored<D> {
  return { id, version, value: JSON.parse(body) as D }
}

/** documents per page */
const SLICE = 100

type Query = Database['query']

interface Registered {
  readonly version: number
  readonly shape: string
}

/** Creates tables of collections on first use, and rewrites documents after a change of specification. */
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
