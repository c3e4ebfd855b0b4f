/** Numbers that stand for names in tables of samples and messages. Those seen last are remembered, within a bound. */
import type { Database } from './database.ts'

const MOST = 200_000

export class SeriesNames {
  readonly #db: Database
  readonly #sql: string
  readonly #known = new Map<string, number>()

  constructor(db: Database, table: 'series' | 'streams') {
    const name = table === 'series' ? 'metric' : 'stream'
    this.#db = db
    // An update that changes nothing, because only then the row that is there is returned.
    this.#sql = `
      INSERT INTO ${table} (tenant, resource, ${name}) VALUES (?, ?, ?)
      ON CONFLICT (tenant, resource, ${name}) DO UPDATE SET tenant = excluded.tenant RETURNING key`
  }

  key(tenant: string, resource: string, name: string): number {
    // Names have no NUL in them, so two different pairs never make the same text.
    const text = `${tenant}\0${resource}\0${name}`
    const known = this.#known.get(text)
    if (known !== undefined) return known
    const [key = 0] = this.#db.row<[number]>(this.#sql, tenant, resource, name) ?? []
    if (this.#known.size >= MOST) this.#known.clear()
    this.#known.set(text, key)
    return key
  }

  /** To be called when a transaction failed: what it inserted is not there. */
  forget(): void {
    this.#known.clear()
  }
}
