/**
 * Locks a schema with an advisory lock of a session, which the server releases whenever the connection ends.
 * The same session holds the announced names, and receives notifications.
 */
import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type { Client } from 'pg'
import { AppError } from '#kernel'
import type { Presence } from '../contract.ts'
import { execute, type Database, type Statement } from './database.ts'
import { isConnectionLoss, storeError } from './database-errors.ts'

/** ms between attempts to reconnect */
const PAUSE = 250
/** attempts at startup, since a killed host may hold the lock for another moment */
const TRIES = 8

/** `exclusive` excludes all others; `shared` excludes exclusive locks. */
export type LockMode = 'exclusive' | 'shared'

interface Holder {
  readonly pid: number
  readonly name: string
  readonly since: string
}

/** ms without a response after which the session counts as lost */
const SESSION_SILENCE = 2_000
/** maximum ms of a single wait for another process to end */
const WATCH = 3_000_000
/** ms after an outage of the server until all hosts are expected to be back */
const SETTLING = 3_000

export class StoreLock implements Presence {
  readonly #database: Database
  readonly #mode: LockMode
  readonly #lost: (error: AppError) => void
  /** application name of the session; by its suffix this process recognizes its own sessions */
  readonly #name = `reflexarc ${hostname().slice(0, 30)} ${process.pid} ${randomUUID().slice(0, 8)}`
  #client: Client | undefined
  #announced: string | undefined
  /** machine time in ms when this session took its locks; undefined while it does not hold them */
  #heldSince: number | undefined
  #isClosed = false
  /** functions that abort waits for the end of other processes */
  readonly #watching = new Set<() => Promise<void>>()
  readonly #listeners: ((word: string | undefined) => void)[] = []
  /** machine time in ms; notifications sent earlier have all been received */
  #notifiedUntil = Number.NEGATIVE_INFINITY

  private constructor(database: Database, mode: LockMode, lost: (error: AppError) => void) {
    this.#database = database
    this.#mode = mode
    this.#lost = lost
  }

  /** `lost` is called when another host took the lock while this one could not reach the server. */
  static async take(database: Database, mode: LockMode, lost: (error: AppError) => void): Promise<StoreLock> {
    const lock = new StoreLock(database, mode, lost)
    try {
      for (let tries = 1; ; tries += 1) {
        const holder = await lock.#try()
        if (holder === undefined) {
          await lock.#requireSession()
          return lock
        }
        if (tries === TRIES) throw lock.#refusal(holder)
        await delay(PAUSE)
      }
    } catch (error) {
      await lock.close()
      throw error instanceof AppError ? error : storeError(database.description, error)
    }
  }

  async announce(name: string): Promise<void> {
    this.#announced = name
    // if the session is lost meanwhile, reconnecting takes the name
    if (this.#client !== undefined) await this.#takeName(this.#client, name)
  }

  async among(names: readonly string[]): Promise<ReadonlySet<string> | undefined> {
    const client = this.#client
    const since = this.#heldSince
    if (client === undefined || since === undefined) return undefined
    const started = performance.now()
    const text = `select name from unnest($1::text[]) as name where exists (select from pg_locks where ${holdsSql(`hashtextextended($2 || name, 0)`)})`
    const there = await this.#answer<{ name: string }>(client, { text, values: [names, this.#nameKey('')] })
    // after a lost session, the names of all other processes may be lost too
    if (there === undefined || this.#heldSince !== since) return undefined
    // notifications and responses arrive in order
    this.#notifiedUntil = started
    return started - since < SETTLING ? undefined : new Set(there.map(({ name }) => name))
  }

  /** Waits, in a separate session, until it gets the lock of the name, and releases it at once. */
  async gone(name: string, calledOff: AbortSignal): Promise<void> {
    const isOver = (): boolean => calledOff.aborted || this.#isClosed
    if (isOver()) return
    let ended: () => void = () => undefined
    const ending = new Promise<void>((resolve) => (ended = resolve))
    const watcher = await this.#database.connect(`${this.#name} watching`, ended)
    try {
      const [session] = (await execute<{ pid: number }>(watcher, { text: 'select pg_backend_pid() as pid' })).rows
      // while waiting for a lock, the server does not notice a closed connection
      const over = (): Promise<void> => this.#terminate(session?.pid).catch(() => undefined)
      const onAbort = (): void => void over()
      this.#watching.add(over)
      calledOff.addEventListener('abort', onAbort, { once: true })
      try {
        const text = 'select pg_advisory_xact_lock_shared(hashtextextended($1, 0))'
        if (!isOver()) await execute(watcher, { text, values: [this.#nameKey(name)], query_timeout: WATCH })
      } finally {
        this.#watching.delete(over)
        calledOff.removeEventListener('abort', onAbort)
      }
    } catch (error) {
      if (!isOver()) throw storeError(this.#database.description, error)
    } finally {
      void watcher.end().catch(() => undefined)
    }
    await ending
  }

  async #terminate(pid: number | undefined): Promise<void> {
    await this.#database.query({ text: 'select pg_terminate_backend($1)', values: [pid] })
  }

  onNotification(listener: (word: string | undefined) => void): void {
    this.#listeners.push(listener)
  }

  get notificationLag(): number {
    return this.#heldSince === undefined ? Number.POSITIVE_INFINITY : performance.now() - this.#notifiedUntil
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#heldSince = undefined
    const client = this.#client
    this.#client = undefined
    await Promise.all([...this.#watching].map((end) => end()))
    await client?.end().catch(() => undefined)
  }

  async #try(): Promise<Holder | undefined> {
    const client = (this.#client ??= await this.#connect())
    const trying = this.#mode === 'shared' ? 'pg_try_advisory_lock_shared' : 'pg_try_advisory_lock'
    const holder = await this.#acquire(client, trying, `reflexarc host ${this.#database.schemaName}`)
    if (holder !== undefined) return holder
    if (this.#announced !== undefined) await this.#takeName(client, this.#announced)
    if (this.#client === client) {
      this.#heldSince = this.#notifiedUntil = performance.now()
      this.#notify(undefined)
    }
    return undefined
  }

  /** Rejects transaction poolers, which keep neither locks nor settings between transactions. */
  async #requireSession(): Promise<void> {
    const client = this.#client
    if (client === undefined) return
    const values = [this.#name]
    await execute(client, { text: `select set_config('reflexarc.session', $1, false)`, values })
    const text = `select current_setting('reflexarc.session', true) is not distinct from $1 as kept`
    // a transaction pooler would assign another, free connection to this transaction
    const kept = await this.#database.transaction(() => execute<{ kept: boolean }>(client, { text, values }))
    if (kept.rows[0]?.kept === true) return
    throw new AppError(
      'STORE',
      `${this.#database.description} is behind a connection pooler in transaction mode, which loses the locks of a host; ` +
        'use the address of the server itself, or of a pooler in session mode',
    )
  }

  async #connect(): Promise<Client> {
    const client = await this.#database.connect(this.#name, (gone) => this.#dropped(gone))
    client.on('notification', ({ payload = '' }) => this.#notify(payload))
    // listens before any later read, so that no later notification is missed
    await execute(client, { text: `listen ${this.#database.channel}` })
    if (!this.#isClosed) return client
    // closed while connecting, and nothing else refers to this client
    await client.end()
    throw new AppError('STORE', `${this.#database.description} was closed while its lock was being acquired again`)
  }

  #notify(word: string | undefined): void {
    for (const listener of this.#listeners) listener(word)
  }

  /** Undefined when the session was lost. */
  async #answer<Row extends object>(client: Client, statement: Statement): Promise<readonly Row[] | undefined> {
    try {
      return (await execute<Row>(client, { ...statement, query_timeout: SESSION_SILENCE })).rows
    } catch (error) {
      if (!isConnectionLoss(error)) throw storeError(this.#database.description, error)
      this.#dropped(client)
      return undefined
    }
  }

  /** Names are unique per process: another holder can only be waiting for its end, and releases at once. */
  async #takeName(client: Client, name: string): Promise<void> {
    while ((await this.#acquire(client, 'pg_try_advisory_lock', this.#nameKey(name))) !== undefined) await delay(1)
  }

  #nameKey(name: string): string {
    return `reflexarc process ${this.#database.schemaName} ${name}`
  }

  async #acquire(client: Client, trying: string, lock: string): Promise<Holder | undefined> {
    const key = 'hashtextextended($1, 0)'
    const values = [lock]
    for (;;) {
      const tried = await execute<{ taken: boolean }>(client, { text: `select ${trying}(${key}) as taken`, values })
      if (tried.rows[0]?.taken === true) return undefined
      const { rows } = await execute<Holder>(client, { text: holderSql(key), values })
      const [holder] = rows
      // released between the two queries
      if (holder === undefined) continue
      if (holder.name !== this.#name) return holder
      // an earlier session of this process, which the server has not ended yet
      await execute(client, { text: 'select pg_terminate_backend($1, 5000)', values: [holder.pid] })
    }
  }

  #dropped(client: Client): void {
    if (this.#isClosed || this.#client !== client) return
    this.#client = undefined
    this.#heldSince = undefined
    void this.#takeAgain()
  }

  async #takeAgain(): Promise<void> {
    while (!this.#isClosed) {
      try {
        const holder = await this.#try()
        if (holder === undefined) return
        this.#lost(this.#refusal(holder))
        return await this.close()
      } catch (error) {
        if (!isConnectionLoss(error) && this.#client !== undefined) {
          this.#lost(storeError(this.#database.description, error))
          return await this.close()
        }
        await delay(PAUSE, undefined, { ref: false })
      }
    }
  }

  #refusal({ name, since }: Holder): AppError {
    const { description, schemaName } = this.#database
    const remedy =
      this.#mode === 'shared'
        ? 'That host is not in a cluster: stop it, and restart it with --cluster'
        : 'Only one host may serve a store, unless all hosts are started with --cluster: stop that host first, or use another database'
    return new AppError(
      'STORE',
      `${description}, schema ${schemaName}, is in use by another host: ${name}, since ${since}. ${remedy}`,
    )
  }
}

function holderSql(key: string): string {
  return `select a.pid, a.application_name as name, to_char(a.backend_start at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as since
          from pg_locks l join pg_stat_activity a on a.pid = l.pid
          where ${holdsSql(key)}`
}

/** SQL condition on pg_locks, which stores a key as two halves. */
function holdsSql(key: string): string {
  return `locktype = 'advisory' and granted and objsubid = 1
          and database = (select oid from pg_database where datname = current_database())
          and classid::bigint = (${key} >> 32) & 4294967295 and objid::bigint = ${key} & 4294967295`
}
