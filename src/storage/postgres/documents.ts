/** Reads documents from a collection's table. */
import type { CheckedQuery } from '../check-query.ts'
import type { Condition, Document, Stored } from '../contract.ts'
import type { KnownField } from '../spec.ts'
import type { Database, Statement } from './database.ts'
import { columnNames } from './columns.ts'
import { isLostTable } from './database-errors.ts'
import { Bindings } from './sql-text.ts'
import type { Table } from './table.ts'
import type { Tables } from './tables.ts'
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
