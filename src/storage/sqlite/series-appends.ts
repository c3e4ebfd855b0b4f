/** Writes appended samples and messages. Works inside the transaction of its caller. */
import { hash } from 'node:crypto'
import type { PreparedMessage } from '../check-series.ts'
import type { Database, SqlValue } from './database.ts'
import type { Append, AppendOperation } from './series-jobs.ts'
import { SeriesNames } from './series-names.ts'

/** Rows of one statement: most of a statement's cost is not its rows'. */
const ROWS = 32
const COLUMNS = 5

export class SeriesAppends {
  readonly #db: Database
  readonly #series: SeriesNames
  readonly #streams: SeriesNames
  readonly #tenants: Set<string>

  constructor(db: Database) {
    this.#db = db
    this.#series = new SeriesNames(db, 'series')
    this.#streams = new SeriesNames(db, 'streams')
    this.#tenants = new Set(db.rows<[string]>('SELECT name FROM tenants').map(([name]) => name))
  }

  /** Gives how many samples were written: none of an append whose position was applied before. */
  append(operation: AppendOperation): number {
    let written = 0
    let start = 0
    for (const append of operation.appends) {
      if (append.applies === undefined || this.#advance(append.tenant, append.applies)) {
        this.#samples(operation, append, start)
        for (const message of append.messages) this.#message(append.tenant, message)
        this.#tenant(append.tenant)
        written += append.end - start
      }
      start = append.end
    }
    return written
  }

  forget(): void {
    this.#series.forget()
    this.#streams.forget()
    this.#tenants.clear()
  }

  /** False when the position was applied before. */
  #advance(tenant: string, { log, partition, position }: NonNullable<Append['applies']>): boolean {
    return this.#db.run(ADVANCE, tenant, log, partition, position) > 0
  }

  #samples({ names, series, times, values, others, expires }: AppendOperation, { tenant, end }: Append, start: number) {
    const keys = new Map<number, number>()
    const keyOf = (place: number): number => {
      let key = keys.get(place)
      if (key === undefined) {
        key = this.#series.key(tenant, names[place * 2] ?? '', names[place * 2 + 1] ?? '')
        keys.set(place, key)
      }
      return key
    }
    const rows = this.#db.statement(INSERT_ROWS)
    const row = this.#db.statement(INSERT_ROW)
    let bound: SqlValue[] = []
    for (let i = start; i < end; i += 1) {
      const value = values[i] ?? Number.NaN
      const expiry = expires?.[i] ?? Number.NaN
      bound.push(
        keyOf(series[i] ?? 0),
        times[i] ?? 0,
        Number.isNaN(value) ? null : value,
        Number.isNaN(value) ? otherOf(others.get(i)) : null,
        Number.isNaN(expiry) ? null : expiry,
      )
      if (bound.length === ROWS * COLUMNS) {
        rows.run(...bound)
        bound = []
      }
    }
    for (let at = 0; at < bound.length; at += COLUMNS) row.run(...bound.slice(at, at + COLUMNS))
  }

  #message(tenant: string, { resource, stream, time, text, expires }: PreparedMessage): void {
    const key = this.#streams.key(tenant, resource, stream)
    this.#db.run(INSERT_MESSAGE, key, time, hash('sha256', text, 'buffer').subarray(0, 16), text, expires ?? null)
  }

  #tenant(tenant: string): void {
    if (this.#tenants.has(tenant)) return
    this.#db.run('INSERT OR IGNORE INTO tenants (name) VALUES (?)', tenant)
    if (this.#tenants.size < MOST_TENANTS) this.#tenants.add(tenant)
  }
}

const MOST_TENANTS = 10_000

/** A truth value as a whole number, which no other value in its column is. */
function otherOf(value: string | boolean | undefined): SqlValue {
  return typeof value === 'boolean' ? BigInt(value) : (value ?? null)
}

const INSERT = 'INSERT INTO arrived (series, time, value, other, expires) VALUES'
const INSERT_ROW = `${INSERT} (?, ?, ?, ?, ?)`
const INSERT_ROWS = `${INSERT} ${Array.from({ length: ROWS }, () => '(?, ?, ?, ?, ?)').join(', ')}`
const INSERT_MESSAGE = 'INSERT OR IGNORE INTO messages (stream, time, digest, body, expires) VALUES (?, ?, ?, ?, ?)'
const ADVANCE = `
  INSERT INTO applied (tenant, log, partition, position) VALUES (?, ?, ?, ?)
  ON CONFLICT (tenant, log, partition) DO UPDATE SET position = excluded.position WHERE excluded.position > position`
