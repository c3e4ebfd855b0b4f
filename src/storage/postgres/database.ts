/**
 * One schema of a PostgreSQL database: a pool for single statements, and settings for dedicated connections.
 * Independent of tables.
 */
import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Client, Pool, types, type ClientBase, type PoolConfig } from 'pg'
import { AppError } from '#kernel'
import { isConnectionLoss, storeError } from './database-errors.ts'
import { identifier } from './sql-text.ts'

export interface DatabaseOptions {
  /** `postgresql://user:password@host:port/database`; the folder of a socket as `?host=/folder` */
  readonly url?: string | undefined
  /** settings of package pg, beside or instead of the URL */
  readonly config?: PoolConfig | undefined
  /** the schema of all tables */
  readonly schema: string
  /** ms to look for a lost server before calls fail */
  readonly patience: number
  /** most ms for which a stalled host may block others within a transaction; default 30,000 */
  readonly idleLimit?: number
}

export interface Statement {
  readonly text: string
  readonly values?: unknown[]
  /** a named statement is prepared once per connection */
  readonly name?: string
  /** ms, if different from the default */
  readonly query_timeout?: number
}

export interface Answer<Row> {
  readonly rows: readonly Row[]
  readonly count: number
}

const INT8 = 20
const READERS = 8
const IDLE_LIMIT = 30_000
/** ms without an answer after which a connection is lost */
const SILENCE = 60_000
const CONNECT = 10_000
/** ms for a statement that creates tables, or waits for another host that does */
const LONG_WORK = 3_600_000

export class Database {
  readonly schemaName: string
  /** the schema as SQL */
  readonly schema: string
  /** the place for people, without the password */
  readonly place: string
  readonly patience: number
  readonly idleLimit: number
  /** of notifications, which all schemas of a database share */
  readonly channel: string
  readonly #config: PoolConfig
  readonly #pool: Pool

  constructor({ url, config, schema, patience, idleLimit = IDLE_LIMIT }: DatabaseOptions) {
    this.patience = patience
    this.idleLimit = idleLimit
    this.schemaName = schema
    this.schema = identifier(schema)
    this.channel = `reflexarc_${createHash('sha256').update(schema).digest('hex').slice(0, 32)}`
    this.#config = {
      application_name: 'reflexarc',
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      connectionTimeoutMillis: CONNECT,
      query_timeout: SILENCE,
      ...config,
      ...(url === undefined ? {} : { connectionString: url }),
      types: { getTypeParser },
    }
    this.place = placeOf(this.#config)
    this.#pool = new Pool({ max: READERS, ...this.#config })
    // without a listener, the end of an idle connection would end the process
    this.#pool.on('error', () => undefined)
  }

  /** One statement, in a transaction of its own. */
  async query<Row extends object>(statement: Statement): Promise<Answer<Row>> {
    try {
      const { rows, rowCount } = await this.#pool.query<Row>(statement)
      return { rows, count: rowCount ?? 0 }
    } catch (error) {
      throw storeError(this.place, error)
    }
  }

  /** A read-only statement: retried while the server is away, within the patience. */
  async read<Row extends object>(statement: Statement): Promise<readonly Row[]> {
    const start = performance.now()
    for (let pause = 0; ; pause = Math.min(Math.max(20, pause * 2), 1000)) {
      try {
        return (await this.#pool.query<Row>(statement)).rows
      } catch (error) {
        const isOver = performance.now() - start + pause > this.patience
        if (!isConnectionLoss(error) || (isOver && pause > 0)) throw storeError(this.place, error)
        if (pause > 0) await delay(pause)
      }
    }
  }

  /** Statements of one transaction on one connection; each may take long. */
  async transaction<R>(work: (query: Database['query']) => Promise<R>): Promise<R> {
    const client = await this.#pool.connect().catch((error: unknown) => {
      throw storeError(this.place, error)
    })
    let broken: Error | undefined
    // the end of the connection is reported here, beside the pending statement
    const onError = (error: Error): void => void (broken = error)
    client.on('error', onError)
    try {
      await client.query('begin')
      const result = await work((statement) => ask(client, { ...statement, query_timeout: LONG_WORK }))
      await client.query('commit')
      return result
    } catch (error) {
      // closed rather than rolled back, so that nothing can remain
      broken ??= error instanceof Error ? error : new Error('failed')
      throw storeError(this.place, error)
    } finally {
      client.off('error', onError)
      client.release(broken)
    }
  }

  /** A dedicated connection, on which statements are pipelined. */
  async connect(name: string, onLoss: (client: Client) => void): Promise<Client> {
    const client = new Client({ ...this.#config, application_name: name, pipeline: true })
    client.on('error', () => onLoss(client))
    client.on('end', () => onLoss(client))
    await client.connect()
    return client
  }

  async close(): Promise<void> {
    await this.#pool.end()
  }
}

/** bigint as number: versions, positions and times stay far below 2^53. */
const getTypeParser: typeof types.getTypeParser = (oid: number, format?: unknown) =>
  oid === INT8 ? Number : (types.getTypeParser as (oid: number, format?: unknown) => unknown)(oid, format)

function placeOf(config: PoolConfig): string {
  try {
    const { host, port, database } = new Client(config)
    const where = host.startsWith('/') ? host : `${host}:${port}`
    return `PostgreSQL at ${where}, database ${database ?? ''}`
  } catch (error) {
    throw new AppError(
      'STORE',
      'the address of the database cannot be read; it is postgresql://user:password@host:5432/database',
      {
        cause: error,
      },
    )
  }
}

/** One statement on a dedicated connection. */
export async function ask<Row extends object>(client: ClientBase, statement: Statement): Promise<Answer<Row>> {
  const { rows, rowCount } = await client.query<Row>(statement)
  return { rows, count: rowCount ?? 0 }
}
