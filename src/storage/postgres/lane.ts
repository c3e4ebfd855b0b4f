/**
 * One connection on which transactions run in sequence.
 *
 * A transaction stores its number in the lane's own row, which shows after a lost connection whether it committed.
 *
 * PGLANE-1 a commit is reported only after the server's COMMIT, or after its number was found in the row
 * PGLANE-2 the row is read after the transaction of the old connection has ended: its lock is awaited
 * PGLANE-3 a transaction whose COMMIT was not sent has not written anything
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from 'pg'
import { execute, type Answer, type Database, type Statement } from './database.ts'
import { isConnectionLoss, isRace, storeError } from './database-errors.ts'

/** Reads and locks inside a transaction, before anything is written. */
export type Look = <Row extends object>(statement: Statement) => Promise<Answer<Row>>

/** The writes of a transaction; an empty list writes nothing. */
export interface Finish<R> {
  readonly statements: readonly Statement[]
  /** result of the transaction, computed before writing so that it survives a lost connection */
  readonly result: R
}

type Attempt<R> =
  { readonly result: R } | { readonly error: unknown; readonly mayBeCommitted: boolean; readonly lost: boolean }

const MAX_RACES = 50

export class Lane {
  readonly #database: Database
  readonly #settings: string
  readonly #id = randomUUID()
  #client: Client | undefined
  #batch = 0

  constructor(database: Database, settings = '') {
    this.#database = database
    this.#settings = settings
  }

  /**
   * `work` may be called several times, after a conflict or a lost connection. Must not be called while another `run`
   * is active. The error has an issue of type `NOT_WRITTEN` or `UNKNOWN_OUTCOME`.
   */
  async run<R>(work: (look: Look) => Promise<Finish<R>>): Promise<R> {
    const { description, patience } = this.#database
    const start = performance.now()
    for (let races = 0, pause = 0; ;) {
      const attempt = await this.#attempt(work)
      if ('result' in attempt) return attempt.result
      const { error, mayBeCommitted, lost } = attempt
      if (lost && mayBeCommitted) throw storeError(description, error, 'UNKNOWN_OUTCOME')
      // the first retry is immediate, since an idle connection may have been lost long ago
      if (lost && (pause === 0 || performance.now() - start + pause <= patience)) {
        if (pause > 0) await delay(pause)
        pause = Math.min(Math.max(20, pause * 2), 1000)
      } else if (!lost && isRace(error) && races < MAX_RACES) races += 1
      else throw storeError(description, error, 'NOT_WRITTEN')
    }
  }

  async close(): Promise<void> {
    const client = this.#client
    this.#client = undefined
    if (client === undefined) return
    await client.query({ text: `delete from ${this.#database.schema}.lanes where id = $1`, values: [this.#id] }).catch(
      // a leftover row is harmless
      () => undefined,
    )
    await client.end().catch(() => undefined)
  }

  async #attempt<R>(work: (look: Look) => Promise<Finish<R>>): Promise<Attempt<R>> {
    let client: Client
    try {
      client = await this.#connected()
    } catch (error) {
      return { error, mayBeCommitted: false, lost: true }
    }
    this.#batch += 1
    const batch = this.#batch
    const opening = client.query(
      `begin isolation level read committed read write;
       insert into ${this.#database.schema}.lanes values ('${this.#id}', ${batch}, now())
       on conflict (id) do update set batch = excluded.batch, seen = excluded.seen`,
    )
    const [opened, looked] = await Promise.allSettled([opening, work((statement) => execute(client, statement))])
    const early = [opened, looked].find((one) => one.status === 'rejected')
    if (early !== undefined || looked.status === 'rejected') return this.#undo(client, early?.reason)
    const { statements, result } = looked.value
    if (statements.length === 0) {
      await this.#undo(client, undefined)
      return { result }
    }

    const sent = [...statements, { text: 'commit' }].map((statement) => client.query(statement))
    const answers = await Promise.allSettled(sent)
    const commit = answers.at(-1)
    const failed = answers.find((one) => one.status === 'rejected')
    const committing = commit?.status === 'fulfilled' && commit.value.command === 'COMMIT'
    if (committing && failed === undefined) return { result }
    const error: unknown = failed?.reason ?? new Error('the server rolled the transaction back')
    if (commit?.status === 'rejected') this.#drop(client)
    // if a statement was not sent, the commit would lack it
    if (committing) return { error, mayBeCommitted: true, lost: true }
    if (!isConnectionLoss(error)) return { error, mayBeCommitted: true, lost: false }
    const committed = await this.#outcome()
    if (committed === undefined) return { error, mayBeCommitted: true, lost: true }
    return committed >= batch ? { result } : { error, mayBeCommitted: false, lost: true }
  }

  /** Ends a transaction whose COMMIT was not sent, so whatever happens to the connection, nothing is written. */
  async #undo(client: Client, error: unknown): Promise<Attempt<never>> {
    const lost = error !== undefined && isConnectionLoss(error)
    if (lost) this.#drop(client)
    else await client.query('rollback').catch(() => this.#drop(client))
    return { error, mayBeCommitted: false, lost }
  }

  async #connected(): Promise<Client> {
    if (this.#client === undefined) await this.#open()
    if (this.#client === undefined) throw new Error('the connection was lost as soon as it was open')
    return this.#client
  }

  /** Reads the number of the last commit; undefined when the server cannot be reached. */
  async #outcome(): Promise<number | undefined> {
    const start = performance.now()
    for (let pause = 20; ; pause = Math.min(pause * 2, 1_000)) {
      try {
        return await this.#open()
      } catch {
        if (performance.now() - start + pause > this.#database.patience) return undefined
        await delay(pause)
      }
    }
  }

  async #open(): Promise<number> {
    const name = `reflexarc ${this.#id}`
    let lost = false
    const client = await this.#database.connect(name, (broken) => {
      lost = true
      if (this.#client === broken) this.#client = undefined
    })
    try {
      await client.query(`set idle_in_transaction_session_timeout = ${this.#database.idleLimit}; ${this.#settings}`)
      await client.query(
        `select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'`,
      )
      // the server may not have noticed that the old connection ended; if it may not be terminated, a timeout ends it
      await client
        .query({
          text: 'select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1 and pid <> pg_backend_pid()',
          values: [name],
        })
        .catch(() => undefined)
      const { rows } = await client.query<{ batch: number }>({
        text: `insert into ${this.#database.schema}.lanes as lane values ($1, 0, now())
               on conflict (id) do update set seen = excluded.seen returning lane.batch`,
        values: [this.#id],
      })
      if (!lost) this.#client = client
      return rows[0]?.batch ?? 0
    } catch (error) {
      this.#drop(client)
      throw error
    }
  }

  #drop(client: Client): void {
    if (this.#client === client) this.#client = undefined
    client.end().catch(() => undefined)
  }
}
