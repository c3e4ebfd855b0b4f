/** Registers tenants that have data, in the transaction of their first write. */
import type { Database, Statement } from './database.ts'

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
