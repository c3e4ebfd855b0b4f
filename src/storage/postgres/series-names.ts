/** Assigns integer keys to pairs of resource and metric, for the table of samples. Keys are never removed. */
import type { Database } from './database.ts'

/** maximum number of cached names; beyond that the cache starts over */
const MOST = 200_000

export const seriesKey = (tenant: string, resource: string, metric: string): string =>
  `${tenant}\0${resource}\0${metric}`

interface Named {
  readonly tenant: string
  readonly samples: readonly { readonly resource: string; readonly metric: string }[]
}

export class SeriesNames {
  readonly #database: Database
  readonly #known = new Map<string, number>()

  constructor(database: Database) {
    this.#database = database
  }

  of(key: string): number {
    const series = this.#known.get(key)
    if (series === undefined) throw new Error(`series ${key} was not learned`)
    return series
  }

  /** In a transaction of its own: otherwise keys of a failed transaction would stay in the cache. */
  async learn(batches: readonly Named[]): Promise<void> {
    if (this.#known.size > MOST) this.#known.clear()
    const fresh = new Map<string, readonly [tenant: string, resource: string, metric: string]>()
    for (const { tenant, samples } of batches) {
      for (const { resource, metric } of samples) {
        const key = seriesKey(tenant, resource, metric)
        if (!this.#known.has(key)) fresh.set(key, [tenant, resource, metric])
      }
    }
    if (fresh.size === 0) return
    const names = [...fresh.values()]
    const values = [0, 1, 2].map((part) => names.map((name) => name[part]))
    const keys = 'unnest($1::text[], $2::text[], $3::text[]) as k(tenant, resource, metric)'
    const { schema } = this.#database
    await this.#database.query({
      text: `insert into ${schema}.series (tenant, resource, metric)
             select * from ${keys}
             where not exists (
               select from ${schema}.series as s
               where (s.tenant, s.resource, s.metric) = (k.tenant, k.resource, k.metric))
             order by 1, 2, 3 on conflict do nothing`,
      values,
    })
    const { rows } = await this.#database.query<{ tenant: string; resource: string; metric: string; series: number }>({
      text: `select s.tenant, s.resource, s.metric, s.series from ${keys}
             join ${schema}.series as s on (s.tenant, s.resource, s.metric) = (k.tenant, k.resource, k.metric)`,
      values,
    })
    for (const row of rows) this.#known.set(seriesKey(row.tenant, row.resource, row.metric), row.series)
  }
}
