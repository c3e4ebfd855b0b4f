/** Reads and trims partitions of logs. Entries are appended by the state writer, in its transactions. */
import type { Json } from '#kernel'
import type { LogEntry } from '../contract.ts'
import type { Database } from './database.ts'

const SLICE = 10_000

interface Bounds {
  readonly first: number
  readonly last: number
}

export class LogTables {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async read(
    tenant: string,
    log: string,
    partition: number,
    after: number,
    limit: number,
  ): Promise<readonly LogEntry[]> {
    const rows = await this.#database.read<{ position: number; body: string }>({
      name: 'log-read',
      text: `select position, body from ${this.#database.schema}.log_entries
             where tenant = $1 and log = $2 and partition = $3 and position > $4 order by position limit $5`,
      values: [tenant, log, partition, after, limit],
    })
    return rows.map(({ position, body }) => ({ position, body: JSON.parse(body) as Json }))
  }

  async bounds(tenant: string, log: string, partition: number): Promise<Bounds> {
    const [row] = await this.#database.read<Bounds>({
      text: `select first, last from ${this.#database.schema}.log_partitions where tenant = $1 and log = $2 and partition = $3`,
      values: [tenant, log, partition],
    })
    return row ?? { first: 1, last: 0 }
  }

  async partitions(tenant: string, log: string): Promise<readonly number[]> {
    const rows = await this.#database.read<{ partition: number }>({
      text: `select partition from ${this.#database.schema}.log_partitions where tenant = $1 and log = $2 order by partition`,
      values: [tenant, log],
    })
    return rows.map(({ partition }) => partition)
  }

  /** Trims in slices, oldest first, so that appends never wait long; each slice updates the bounds. */
  async trim(tenant: string, log: string, partition: number, upTo: number): Promise<void> {
    const { schema } = this.#database
    const key = 'tenant = $1 and log = $2 and partition = $3'
    // locked, so that of two concurrent trims the second continues after the first
    const text = `
      with slice as materialized (
        select first, least($4::bigint, last, first + ${SLICE - 1}) as until
        from ${schema}.log_partitions where ${key} for update),
      gone as (delete from ${schema}.log_entries using slice where ${key} and position <= slice.until)
      update ${schema}.log_partitions set first = slice.until + 1 from slice where ${key} and slice.until >= slice.first`
    let moved = 1
    while (moved > 0) {
      const { count } = await this.#database.query({ text, values: [tenant, log, partition, upTo] })
      moved = count
    }
  }
}
