/** Reads and locks all rows that a batch touches, in the same order on all hosts, to prevent deadlocks. */
import type { Statement } from './database.ts'
import type { Table } from './table.ts'

export interface DocumentKey {
  readonly tenant: string
  readonly id: string
}

export interface LogKey {
  readonly tenant: string
  readonly log: string
}

export interface TouchedRow {
  /** index of the row's table; logs come after the last table */
  readonly place: number
  readonly tenant: string
  /** id of a document, or name of a log */
  readonly id: string
  /** the version of a document, live or deleted; or the last position of a log */
  readonly number: number
  readonly alive: boolean
}

/** maximum number of sets of tables with a prepared statement per connection; other statements are parsed each time */
const MAX_PREPARED = 64

export class TouchedRows {
  readonly #schema: string
  readonly #prepared = new Map<string, { readonly name: string; readonly text: string }>()

  constructor(schema: string) {
    this.#schema = schema
  }

  /** Builds the statement, whose rows are `TouchedRow`s. `documents` must be ordered by table name. */
  holding(documents: ReadonlyMap<Table, readonly DocumentKey[]>, logs: readonly LogKey[]): Statement {
    const values: unknown[] = []
    for (const keys of documents.values())
      values.push(
        keys.map(({ tenant }) => tenant),
        keys.map(({ id }) => id),
      )
    if (logs.length > 0) values.push(...logValues(logs))
    return { ...this.#statement([...documents.keys()], logs.length > 0), values }
  }

  #statement(tables: readonly Table[], hasLogs: boolean): Omit<Statement, 'values'> {
    const key = `${tables.map(({ name }) => name).join()} ${hasLogs}`
    const known = this.#prepared.get(key)
    if (known !== undefined) return known
    const text = this.#textOf(tables, hasLogs)
    if (this.#prepared.size >= MAX_PREPARED) return { text }
    const prepared = { name: `touched ${this.#prepared.size}`, text }
    this.#prepared.set(key, prepared)
    return prepared
  }

  #textOf(tables: readonly Table[], hasLogs: boolean): string {
    const parts = tables.map((table, place) => {
      const [tenants, ids] = [place * 2 + 1, place * 2 + 2]
      return {
        held: `select t.tenant, t.id, t.version, t.alive from unnest($${tenants}::text[], $${ids}::text[]) as k(tenant, id)
               join ${table.name} as t on t.tenant = k.tenant and t.id = k.id order by t.tenant, t.id for update of t`,
        shown: `select ${place} as place, tenant, id, version as number, alive from held${place}`,
      }
    })
    const first = tables.length * 2 + 1
    if (hasLogs) {
      parts.push({
        held: `select l.tenant, l.log, l.last from unnest($${first}::text[], $${first + 1}::text[]) as k(tenant, log)
               join ${this.#schema}.logs as l on (l.tenant, l.log) = (k.tenant, k.log)
               order by l.tenant, l.log for update of l`,
        shown: `select ${tables.length} as place, tenant, log as id, last as number, true as alive from held${tables.length}`,
      })
    }
    const held = parts.map((part, place) => `held${place} as (${part.held})`).join(', ')
    return `with ${held} ${parts.map(({ shown }) => shown).join(' union all ')}`
  }
}

export function logValues(logs: readonly LogKey[]): readonly unknown[] {
  return [logs.map(({ tenant }) => tenant), logs.map(({ log }) => log)]
}
