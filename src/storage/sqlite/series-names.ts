/** Assigns integer keys to series and streams, with a cache of limited size. */
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
    // does not change an existing row, but only an update returns it
    this.#sql = `
      INSERT INTO ${table} (tenant, resource, ${name}) VALUES (?, ?, ?)
      ON CONFLICT (tenant, resource, ${name}) DO UPDATE SET tenant = excluded.tenant RETURNING key`
  }

  key(tenant: string, resource: string, name: string): number {
    // NUL cannot occur in names, so pairs are unambiguous
    const text = `${tenant}\0${resource}\0${name}`
    const known = this.#known.get(text)
    if (known !== undefined) return known
    const [key = 0] = this.#db.row<[number]>(this.#sql, tenant, resource, name) ?? []
    requireNamed(this.#db, this.#table, key, [tenant, resource, name])
    if (this.#known.size >= MOST) this.#known.clear()
    this.#known.set(text, key)
    return key
  }

  /** Drops the cache; call after a failed transaction, which undoes inserts. */
  forget(): void {
    this.#known.clear()
  }
}

/** Throws `DAMAGED` otherwise, so that another tenant's data is never returned. */
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

export function damagedSamples(db: Database, series: number, first: number, last: number): AppError {
  const [tenant = '?', resource = '?', metric = '?'] =
    db.row<[string, string, string]>('SELECT tenant, resource, metric FROM series WHERE key = ?', series) ?? []
  return damaged(`${metric} of ${resource} (tenant ${tenant}) from ${timeText(first)} to ${timeText(last)}`)
}

/** Formats a time, which may be damaged and out of range. */
export function timeText(time: number): string {
  return Math.abs(time) <= 8.64e15 ? new Date(time).toISOString() : String(time)
}
