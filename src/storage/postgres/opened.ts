/** Holds what all stores of an open PostgreSQL storage share. */
import type { AppError } from '#kernel'
import type { Presence } from '../contract.ts'
import { closedError } from '../tenant.ts'
import { Specs } from '../spec.ts'
import { Database, type DatabaseOptions } from './database.ts'
import { Documents, Tables } from './documents.ts'
import { LogTables } from './log-tables.ts'
import { SeriesNames } from './series-names.ts'
import { SeriesReader } from './series-reader.ts'
import { SeriesWriter } from './series-writer.ts'
import { StateWriter, Tenants } from './state-writer.ts'
import { type LockMode, StoreLock } from './store-lock.ts'

/** Most samples or messages deleted by one statement. */
const SLICE = 5_000

class SeriesExpiry {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  async expire(tenant: string, now: number): Promise<number> {
    const { schema } = this.#database
    const samples = await this.#inSlices(
      `delete from ${schema}.samples as s using (
         select s.series, s.time from ${schema}.samples as s join ${schema}.series as n on n.series = s.series
         where n.tenant = $1 and s.expires <= $2 limit ${SLICE} for update of s skip locked) as gone
       where s.series = gone.series and s.time = gone.time`,
      [tenant, now],
    )
    const messages = await this.#inSlices(
      `delete from ${schema}.messages as m using (
         select arrival from ${schema}.messages where tenant = $1 and expires <= $2
         limit ${SLICE} for update skip locked) as gone
       where m.arrival = gone.arrival`,
      [tenant, now],
    )
    return samples + messages
  }

  async #inSlices(text: string, values: unknown[]): Promise<number> {
    let total = 0
    for (;;) {
      const { count } = await this.#database.query({ text, values })
      total += count
      if (count < SLICE) return total
    }
  }
}

export class Opened {
  readonly clock: () => number
  readonly specs = new Specs()
  readonly database: Database
  readonly tables: Tables
  readonly tenants: Tenants
  readonly documents: Documents
  readonly logs: LogTables
  readonly stateWriter: StateWriter
  readonly seriesReader: SeriesReader
  readonly seriesWriter: SeriesWriter
  readonly seriesExpiry: SeriesExpiry
  readonly #underWay = new Set<Promise<unknown>>()
  #closing: Promise<void> | undefined
  #lock: StoreLock | undefined
  /** set when another host took the store: all calls are rejected */
  #lost: AppError | undefined

  constructor(options: DatabaseOptions, clock: () => number) {
    this.clock = () => Math.floor(clock())
    this.database = new Database(options)
    this.tables = new Tables(this.database)
    this.tenants = new Tenants(this.database)
    this.documents = new Documents(this.database, this.tables)
    this.logs = new LogTables(this.database)
    this.stateWriter = new StateWriter(this.database, this.tables, this.tenants)
    this.seriesReader = new SeriesReader(this.database)
    this.seriesWriter = new SeriesWriter(this.database, new SeriesNames(this.database), this.tenants)
    this.seriesExpiry = new SeriesExpiry(this.database)
  }

  /** Throws `STORE` when another host holds a conflicting lock. */
  async lock(mode: LockMode): Promise<void> {
    this.#lock = await StoreLock.take(this.database, mode, (error) => (this.#lost = error))
  }

  /** Undefined without a lock. */
  get presence(): Presence | undefined {
    return this.#lock
  }

  /** Rejects with `STORE` after a takeover. Runs synchronously up to the call's first await. */
  act<R>(work: (opened: this) => Promise<R>): Promise<R> {
    if (this.#closing !== undefined) return Promise.reject(closedError())
    if (this.#lost !== undefined) return Promise.reject(this.#lost)
    const working = work(this)
    const settled = working.then(
      () => undefined,
      () => undefined,
    )
    this.#underWay.add(settled)
    void settled.then(() => this.#underWay.delete(settled))
    return working
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await Promise.all(this.#underWay)
    await Promise.all([this.stateWriter.close(), this.seriesWriter.close()])
    await this.#lock?.close()
    await this.database.close()
  }
}
