/** Numbers that stand for names in tables of samples and messages. Those seen last are remembered, within a bound. */
import { damaged } from '../damage.ts'
import type { AppError } from '../../kernel/errors.ts'
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

/** Samples of a series that are not as they were written. */
export function damagedSamples(db: Database, series: number, first: number, last: number): AppError {
  const [tenant = '?', resource = '?', metric = '?'] =
    db.row<[string, string, string]>('SELECT tenant, resource, metric FROM series WHERE key = ?', series) ?? []
  return damaged(`${metric} of ${resource} (tenant ${tenant}) from ${timeText(first)} to ${timeText(last)}`)
}

/** Also of times that are damaged themselves. */
export function timeText(time: number): string {
  return Math.abs(time) <= 8.64e15 ? new Date(time).toISOString() : String(time)
}
