/** Reads and locks all rows that a batch touches, in the same order on all hosts, to prevent deadlocks. */
import type { Statement } from './database.ts'
import type { Table } from './table.ts'

export interface DocumentKey {
  readonly tenant: string
  readonly id: string
}

export interface PartitionKey {
  readonly tenant: string
  readonly log: string
  readonly partition: number
}

export interface TouchedRow {
  /** index of the row's table; partitions come after the last table */
  readonly place: number
  readonly tenant: string
  /** id of a document, or log of a partition */
  readonly id: string
  /** the version of a document, live or deleted; or the last position of a partition */
  readonly number: number
  readonly alive: boolean
  readonly partition: number
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
  holding(documents: ReadonlyMap<Table, readonly DocumentKey[]>, partitions: readonly PartitionKey[]): Statement {
    const values: unknown[] = []
    for (const keys of documents.values())
      values.push(
        keys.map(({ tenant }) => tenant),
        keys.map(({ id }) => id),
      )
    if (partitions.length > 0) values.push(...partitionValues(partitions))
    return { ...this.#statement([...documents.keys()], partitions.length > 0), values }
  }

  #statement(tables: readonly Table[], hasPartitions: boolean): Omit<Statement, 'values'> {
    const key = `${tables.map(({ name }) => name).join()} ${hasPartitions}`
    const known = this.#prepared.get(key)
    if (known !== undefined) return known
    const text = this.#textOf(tables, hasPartitions)
    if (this.#prepared.size >= MAX_PREPARED) return { text }
    const prepared = { name: `touched ${this.#prepared.size}`, text }
    this.#prepared.set(key, prepared)
    return prepared
  }

  #textOf(tables: readonly Table[], hasPartitions: boolean): string {
    const parts = tables.map((table, place) => {
      const [tenants, ids] = [place * 2 + 1, place * 2 + 2]
      return {
        held: `select t.tenant, t.id, t.version, t.alive from unnest($${tenants}::text[], $${ids}::text[]) as k(tenant, id)
               join ${table.name} as t on t.tenant = k.tenant and t.id = k.id order by t.tenant, t.id for update of t`,
        shown: `select ${place} as place, tenant, id, version as number, alive, 0::bigint as partition from held${place}`,
      }
    })
    const first = tables.length * 2 + 1
    if (hasPartitions) {
      parts.push({
        held: `select p.tenant, p.log, p.partition, p.last
               from unnest($${first}::text[], $${first + 1}::text[], $${first + 2}::bigint[]) as k(tenant, log, partition)
               join ${this.#schema}.log_partitions as p on (p.tenant, p.log, p.partition) = (k.tenant, k.log, k.partition)
               order by p.tenant, p.log, p.partition for update of p`,
        shown: `select ${tables.length} as place, tenant, log as id, last as number, true as alive, partition from held${tables.length}`,
      })
    }
    const held = parts.map((part, place) => `held${place} as (${part.held})`).join(', ')
    return `with ${held} ${parts.map(({ shown }) => shown).join(' union all ')}`
  }
}

export function partitionValues(partitions: readonly PartitionKey[]): readonly unknown[] {
  return [
    partitions.map(({ tenant }) => tenant),
    partitions.map(({ log }) => log),
    partitions.map(({ partition }) => partition),
  ]
}
