/**
 * Commits units over documents and logs, many in one transaction, where each succeeds or fails on its own.
 * Missing rows cannot be locked: if another host inserts one meanwhile, the server rejects it and the batch restarts.
 */
import { AppError } from '#kernel'
import { compareText } from '../order.ts'
import { type Before, type Kept, type Plan, planBatch, type PlannedLog, type PreparedUnit } from './batch-plan.ts'
import { isLostTable, isRefusal } from './database-errors.ts'
import type { Database, Statement } from './database.ts'
import { Gathering, halves } from './gathering.ts'
import { type Finish, Lane, type Look } from './lane.ts'
import { checkStatementSize, MEBI } from './statement-size.ts'
import type { Table } from './table.ts'
import type { Tables } from './documents.ts'
import { type DocumentKey, type LogKey, logValues, type TouchedRow, TouchedRows } from './touched-rows.ts'

/** Most units, and characters of JSON, in one transaction. */
const LIMITS = { items: 2_000, size: 16 * MEBI }

/** Makes the planner use indexes: a statement is planned once, possibly while the table is empty. */
const BY_KEY = 'set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off; set jit = off'

interface Pending extends PreparedUnit {
  readonly size: number
  /** submission time in monotonic ms */
  readonly since: number
  readonly resolve: (results: readonly number[]) => void
  readonly reject: (error: unknown) => void
}

export class StateWriter {
  readonly #database: Database
  readonly #tables: Tables
  readonly #tenants: Tenants
  readonly #touchedRows: TouchedRows
  readonly #lane: Lane
  readonly #gathering: Gathering<Pending>
  #commits = 0
  #lastCommitMs = 0

  constructor(database: Database, tables: Tables, tenants: Tenants) {
    this.#database = database
    this.#tables = tables
    this.#tenants = tenants
    this.#touchedRows = new TouchedRows(database.schema)
    this.#lane = new Lane(database, BY_KEY)
    this.#gathering = new Gathering((batch) => this.#write(batch), LIMITS)
  }

  get stats(): { readonly queued: number; readonly commits: number; readonly lastCommitMs: number } {
    return { queued: this.#gathering.queued, commits: this.#commits, lastCommitMs: this.#lastCommitMs }
  }

  async commit(unit: PreparedUnit): Promise<readonly number[]> {
    const size = sizeOf(unit)
    checkStatementSize(size, 'The unit of work')
    return await new Promise((resolve, reject) => {
      this.#gathering.add({ ...unit, size, since: performance.now(), resolve, reject })
    })
  }

  async close(): Promise<void> {
    await this.#gathering.idle()
    await this.#lane.close()
  }

  async #write(batch: readonly Pending[]): Promise<void> {
    const units = await this.#withTables(batch)
    if (units.length === 0) return
    try {
      const plan = await this.#lane.run((look) => this.#transact(units, look))
      this.#tenants.remember(tenantsOf(plan))
      for (const [index, unit] of units.entries()) this.#answer(unit, plan.outcomes[index])
    } catch (error) {
      if (isLostTable(error)) for (const table of this.#tablesOf(units)) this.#tables.forget(table)
      // after a rejection, halve the batch so that other units do not fail too
      if (units.length > 1 && isRefusal(error)) for (const half of halves(units)) await this.#write(half)
      else for (const { reject } of units) reject(error)
    }
  }

  #answer({ resolve, reject, since }: Pending, outcome: Plan['outcomes'][number] | undefined): void {
    if (outcome === undefined || outcome instanceof AppError) return reject(outcome)
    this.#commits += 1
    this.#lastCommitMs = performance.now() - since
    resolve(outcome)
  }

  async #withTables(batch: readonly Pending[]): Promise<readonly Pending[]> {
    const failures = new Map<Table, unknown>()
    for (const table of this.#tablesOf(batch)) {
      await this.#tables.ready(table).catch((error: unknown) => failures.set(table, error))
    }
    if (failures.size === 0) return batch
    return batch.filter((unit) => {
      const lost = this.#tablesOf([unit]).find((table) => failures.has(table))
      if (lost !== undefined) unit.reject(failures.get(lost))
      return lost === undefined
    })
  }

  async #transact(units: readonly Pending[], look: Look): Promise<Finish<Plan>> {
    const plan = planBatch(units, await this.#before(units, look))
    const statements = [
      ...this.#tenants.registering(tenantsOf(plan)),
      ...this.#documentChanges(plan),
      ...this.#logChanges(plan),
    ]
    return { statements, result: plan }
  }

  async #before(units: readonly Pending[], look: Look): Promise<Before> {
    const { documents, logs } = this.#touched(units)
    const kept = new Map<string, Kept>()
    const lasts = new Map<string, number>()
    const tables = [...documents.keys()]
    const { rows } = await look<TouchedRow>(this.#touchedRows.holding(documents, logs))
    for (const { place, tenant, id, number, alive } of rows) {
      const table = tables[place]
      if (table === undefined) lasts.set(logKey(tenant, id), number)
      else kept.set(documentKey(table.spec.name, tenant, id), { version: number, alive })
    }
    return {
      document: (collection, tenant, id) => kept.get(documentKey(collection, tenant, id)),
      last: (tenant, log) => lasts.get(logKey(tenant, log)),
    }
  }

  /** Returns the distinct documents and logs, with tables in the same order on all hosts. */
  #touched(units: readonly PreparedUnit[]) {
    const documents = new Map<Table, Map<string, DocumentKey>>()
    for (const table of this.#tablesOf(units)) documents.set(table, new Map())
    const logs = new Map<string, LogKey>()
    for (const { tenant, writes } of units) {
      for (const write of writes) {
        if (write.kind === 'append') {
          const { log } = write
          logs.set(logKey(tenant, log), { tenant, log })
        } else {
          const { known, id } = write
          documents.get(this.#tables.of(known))?.set(documentKey(known.name, tenant, id), { tenant, id })
        }
      }
    }
    const keys = [...documents].map(([table, some]) => [table, [...some.values()]] as const)
    return { documents: new Map(keys), logs: [...logs.values()] }
  }

  #tablesOf(units: readonly PreparedUnit[]): readonly Table[] {
    const tables = new Set<Table>()
    for (const { writes } of units) {
      for (const write of writes) if (write.kind !== 'append') tables.add(this.#tables.of(write.known))
    }
    return [...tables].sort((a, b) => compareText(a.name, b.name))
  }

  #documentChanges({ documents }: Plan): readonly Statement[] {
    const tables = [...new Set(documents.map(({ spec }) => this.#tables.of(spec)))]
    const sorted = documents.toSorted((a, b) => compareText(a.tenant, b.tenant) || compareText(a.id, b.id))
    return tables
      .sort((a, b) => compareText(a.name, b.name))
      .flatMap((table) => {
        const rows = sorted.filter(({ spec }) => spec.name === table.spec.name)
        const [fresh, known] = [rows.filter((row) => !row.known), rows.filter((row) => row.known)]
        return [...(fresh.length > 0 ? [table.insert(fresh)] : []), ...(known.length > 0 ? [table.update(known)] : [])]
      })
  }

  #logChanges({ logs }: Plan): readonly Statement[] {
    if (logs.length === 0) return []
    const { schema } = this.#database
    const keys = 'unnest($1::text[], $2::text[], $3::bigint[]) as k(tenant, log, last)'
    const lasts = (some: readonly PlannedLog[]) => some.map(({ first, bodies }) => first + bodies.length - 1)
    const [fresh, known] = [logs.filter((one) => !one.known), logs.filter((one) => one.known)]
    const insert = {
      name: 'insert logs',
      text: `insert into ${schema}.logs (tenant, log, first, last)
             select tenant, log, 1, last from ${keys} order by tenant, log`,
      values: [...logValues(fresh), lasts(fresh)],
    }
    const update = {
      name: 'update logs',
      text: `update ${schema}.logs as l set last = k.last from ${keys}
             where (l.tenant, l.log) = (k.tenant, k.log)`,
      values: [...logValues(known), lasts(known)],
    }
    const entries = logs.flatMap(({ tenant, log, first, bodies }) =>
      bodies.map((body, index) => ({ tenant, log, position: first + index, body })),
    )
    const append = {
      name: 'append',
      text: `insert into ${schema}.log_entries (tenant, log, position, body)
             select * from unnest($1::text[], $2::text[], $3::bigint[], $4::text[])`,
      values: [...logValues(entries), entries.map(({ position }) => position), entries.map(({ body }) => body)],
    }
    return [...(fresh.length > 0 ? [insert] : []), ...(known.length > 0 ? [update] : []), append]
  }
}

function tenantsOf({ documents, logs }: Plan): readonly string[] {
  return [...new Set([...documents, ...logs].map(({ tenant }) => tenant))]
}

const documentKey = (collection: string, tenant: string, id: string): string => `${collection}/${tenant}/${id}`
const logKey = (tenant: string, log: string): string => `${tenant}/${log}`

function sizeOf({ writes }: PreparedUnit): number {
  let size = 0
  for (const write of writes) {
    if (write.kind === 'put') size += write.text.length
    else if (write.kind === 'append') for (const text of write.texts) size += text.length
  }
  return size
}

/** Registers tenants that have data, in the transaction of their first write. */
export class Tenants {
  readonly #database: Database
  /** tenants known to be registered */
  readonly #known = new Set<string>()

  constructor(database: Database) {
    this.#database = database
  }

  registering(tenants: readonly string[]): readonly Statement[] {
    const fresh = [...new Set(tenants)].filter((tenant) => !this.#known.has(tenant)).sort()
    if (fresh.length === 0) return []
    const text = `insert into ${this.#database.schema}.tenants select unnest($1::text[]) on conflict do nothing`
    return [{ text, values: [fresh] }]
  }

  /** Call after the transaction of `registering` was committed. */
  remember(tenants: readonly string[]): void {
    for (const tenant of tenants) this.#known.add(tenant)
  }

  async list(): Promise<readonly string[]> {
    const text = `select name from ${this.#database.schema}.tenants order by name`
    return (await this.#database.read<{ name: string }>({ text })).map(({ name }) => name)
  }
}
