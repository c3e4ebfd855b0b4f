/**
 * One connection on which transactions run one after the other.
 *
 * Duty: what `run` answers is committed. A transaction takes two journeys to the server: one that begins and looks (and
 * locks), one that writes and commits. Each transaction leaves its number in the lane's own row; when the connection is
 * lost while a commit is under way, the number tells on a new connection whether it came through.
 *
 * PGLANE-1 nothing is answered as done unless the server said COMMIT, or the row says it after a loss
 * PGLANE-2 before the row is asked, the old connection's transaction has ended: its hold on the row is waited for
 * PGLANE-3 what was not yet told to commit has not been written
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from 'pg'
import { ask, type Answer, type Database, type Statement } from './database.ts'
import { isConnectionLoss, isRace, storeError } from './database-errors.ts'

/** Asks, and locks, inside a transaction, before anything is written. */
export type Look = <Row extends object>(statement: Statement) => Promise<Answer<Row>>

/** What a transaction writes once it has looked; no statements: nothing to write. */
export interface Finish<R> {
  readonly statements: readonly Statement[]
  /** known before it is written, so that it is not lost with the connection */
  readonly result: R
}

type Attempt<R> = { readonly result: R } | { readonly error: unknown; readonly told: boolean; readonly lost: boolean }

const MAX_RACES = 50

export class Lane {
  readonly #database: Database
  /** settings of its connection, as SQL */
  readonly #settings: string
  readonly #id = randomUUID()
  #client: Client | undefined
  #batch = 0

  constructor(database: Database, settings = '') {
    this.#database = database
    this.#settings = settings
  }

  /**
   * Looks, writes and commits. `work` may be called several times: other hosts may come in between, and a connection
   * may be found dead. Never call it while another `run` is under way.
   * `STORE` with an issue of type `NOT_WRITTEN` or `UNKNOWN_OUTCOME`; `UNAVAILABLE` with the same when the server could
   * not be reached for as long as the database's patience.
   */
  async run<R>(work: (look: Look) => Promise<Finish<R>>): Promise<R> {
    const { place, patience } = this.#database
    const start = performance.now()
    for (let races = 0, pause = 0; ;) {
      const attempt = await this.#attempt(work)
      if ('result' in attempt) return attempt.result
      const { error, told, lost } = attempt
      if (lost && told) throw storeError(place, error, 'UNKNOWN_OUTCOME')
      // At once the first time: the connection may have died unnoticed since it was last used
      if (lost && (pause === 0 || performance.now() - start + pause <= patience)) {
        if (pause > 0) await delay(pause)
        pause = Math.min(Math.max(20, pause * 2), 1000)
      } else if (!lost && isRace(error) && races < MAX_RACES) races += 1
      else throw storeError(place, error, 'NOT_WRITTEN')
    }
  }

  async close(): Promise<void> {
    const client = this.#client
    this.#client = undefined
    if (client === undefined) return
    await client.query({ text: `delete from ${this.#database.schema}.lanes where id = $1`, values: [this.#id] }).catch(
      // Only tidying: a row that stays behind harms nobody
      () => undefined,
    )
    await client.end().catch(() => undefined)
  }

  async #attempt<R>(work: (look: Look) => Promise<Finish<R>>): Promise<Attempt<R>> {
    let client: Client
    try {
      client = await this.#connected()
    } catch (error) {
      return { error, told: false, lost: true }
    }
    this.#batch += 1
    const batch = this.#batch
    const opening = client.query(
      `begin isolation level read committed read write;
       insert into ${this.#database.schema}.lanes values ('${this.#id}', ${batch}, now())
       on conflict (id) do update set batch = excluded.batch, seen = excluded.seen`,
    )
    const [opened, looked] = await Promise.allSettled([opening, work((statement) => ask(client, statement))])
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
    // A statement that never left this process would be missing in what was committed
    if (committing) return { error, told: true, lost: true }
    if (!isConnectionLoss(error)) return { error, told: true, lost: false }
    const committed = await this.#outcome()
    if (committed === undefined) return { error, told: true, lost: true }
    return committed >= batch ? { result } : { error, told: false, lost: true }
  }

  /** Nothing was told to commit: whatever happens to the connection now, nothing is written. */
  async #undo(client: Client, error: unknown): Promise<Attempt<never>> {
    const lost = error !== undefined && isConnectionLoss(error)
    if (lost) this.#drop(client)
    else await client.query('rollback').catch(() => this.#drop(client))
    return { error, told: false, lost }
  }

  async #connected(): Promise<Client> {
    if (this.#client === undefined) await this.#open()
    if (this.#client === undefined) throw new Error('the connection was lost as soon as it was open')
    return this.#client
  }

  /** The number of the last transaction that was committed; undefined when the server cannot be reached for long. */
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
      // The server may not know yet that the old connection is dead; where this is not allowed, the limit ends it
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
