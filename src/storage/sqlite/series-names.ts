/** Integer keys of series and streams, with a bounded cache. */
import { damaged } from '../damage.ts'
import type { AppError } from '#kernel'
import type { Database } from './database.ts'

const MOST = 200_000

type NamedTable = 'series' | 'streams'

const lastName = (table: NamedTable): string => (table === 'series' ? 'metric' : 'stream')

export class SeriesNames {
  readonly #db: Database
  readonly #table: NamedTable
  readonly #sql: string
  readonly #known = new Map<string, number>()

  constructor(db: Database, table: NamedTable) {
    const name = lastName(table)
    this.#db = db
    this.#table = table
    // an update without a change, because only an update returns the existing row
    this.#sql = `
      INSERT INTO ${table} (tenant, resource, ${name}) VALUES (?, ?, ?)
      ON CONFLICT (tenant, resource, ${name}) DO UPDATE SET tenant = excluded.tenant RETURNING key`
  }

  key(tenant: string, resource: string, name: string): number {
    // names do not contain NUL, so pairs are unambiguous
    const text = `${tenant}\0${resource}\0${name}`
    const known = this.#known.get(text)
    if (known !== undefined) return known
    const [key = 0] = this.#db.row<[number]>(this.#sql, tenant, resource, name) ?? []
    requireNamed(this.#db, this.#table, key, [tenant, resource, name])
    if (this.#known.size >= MOST) this.#known.clear()
    this.#known.set(text, key)
    return key
  }

  /** Call after a failed transaction, which undoes inserts. */
  forget(): void {
    this.#known.clear()
  }
}

/**
 * Verifies the names of a key that an index found; `DAMAGED` when they differ, so that data of others is never
 * returned.
 */
export function requireNamed(
  db: Database,
  table: NamedTable,
  key: number,
  names: readonly [tenant: string, resource: string, name: string],
): void {
  const sql = `SELECT tenant, resource, ${lastName(table)} FROM ${table} NOT INDEXED WHERE key = ?`
  const found = db.row<[string, string, string]>(sql, key)
  if (found !== undefined && names.every((name, i) => name === found[i])) return
  throw damaged(`The name ${names[1]}/${names[2]} of the tenant ${names[0]} among ${table}`)
}

/** The error of damaged samples. */
export function damagedSamples(db: Database, series: number, first: number, last: number): AppError {
  const [tenant = '?', resource = '?', metric = '?'] =
    db.row<[string, string, string]>('SELECT tenant, resource, metric FROM series WHERE key = ?', series) ?? []
  return damaged(`${metric} of ${resource} (tenant ${tenant}) from ${timeText(first)} to ${timeText(last)}`)
}

/** Also for damaged times. */
export function timeText(time: number): string {
  return Math.abs(time) <= 8.64e15 ? new Date(time).toISOString() : String(time)
}
