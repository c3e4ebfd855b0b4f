/** Reads and trims logs. Entries are appended by the state writer, in its transactions. */
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

  async read(tenant: string, log: string, after: number, limit: number): Promise<readonly LogEntry[]> {
    const rows = await this.#database.read<{ position: number; body: string }>({
      name: 'log-read',
      text: `select position, body from ${this.#database.schema}.log_entries
             where tenant = $1 and log = $2 and position > $3 order by position limit $4`,
      values: [tenant, log, after, limit],
    })
    return rows.map(({ position, body }) => ({ position, body: JSON.parse(body) as Json }))
  }

  async bounds(tenant: string, log: string): Promise<Bounds> {
    const [row] = await this.#database.read<Bounds>({
      text: `select first, last from ${this.#database.schema}.logs where tenant = $1 and log = $2`,
      values: [tenant, log],
    })
    return row ?? { first: 1, last: 0 }
  }

  /** Trims in slices, oldest first, so that appends never wait long; each slice updates the bounds. */
  async trim(tenant: string, log: string, upTo: number): Promise<void> {
    const { schema } = this.#database
    const key = 'tenant = $1 and log = $2'
    // locked, so that of two concurrent trims the second continues after the first
    const text = `
      with slice as materialized (
        select first, least($3::bigint, last, first + ${SLICE - 1}) as until
        from ${schema}.logs where ${key} for update),
      gone as (delete from ${schema}.log_entries using slice where ${key} and position <= slice.until)
      update ${schema}.logs set first = slice.until + 1 from slice where ${key} and slice.until >= slice.first`
    let moved = 1
    while (moved > 0) {
      const { count } = await this.#database.query({ text, values: [tenant, log, upTo] })
      moved = count
    }
  }
}
