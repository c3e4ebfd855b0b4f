/** Connects to one schema of a PostgreSQL database. */
import { createHash } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { Client, Pool, types, type ClientBase, type PoolConfig } from 'pg'
import { AppError } from '#kernel'
import { isConnectionLoss, storeError } from './database-errors.ts'
import { identifier } from './sql-text.ts'

export interface DatabaseOptions {
  /** `postgresql://user:password@host:port/database`; for a socket, its folder as `?host=/folder` */
  readonly url?: string | undefined
  /** settings of the package pg, in addition to the URL or in its place */
  readonly config?: PoolConfig | undefined
  readonly schema: string
  /** ms for which calls wait for a lost server before failing */
  readonly patience: number
  /** maximum ms for which a stalled host may block others inside a transaction; default 30,000 */
  readonly idleLimit?: number
}

export interface Statement {
  readonly text: string
  readonly values?: unknown[]
  /** name; a named statement is prepared once per connection */
  readonly name?: string
  /** timeout in ms, if it differs from the default */
  readonly query_timeout?: number
}

export interface Answer<Row> {
  readonly rows: readonly Row[]
  readonly count: number
}

const INT8 = 20
const READERS = 8
const IDLE_LIMIT = 30_000
/** ms without a response after which a connection counts as lost */
const SILENCE = 60_000
const CONNECT = 10_000
/** timeout in ms for statements that create tables, or wait for another host to create them */
const LONG_WORK = 3_600_000

export class Database {
  readonly schemaName: string
  readonly schema: string
  /** description of the server and schema for messages, without the password */
  readonly description: string
  readonly patience: number
  readonly idleLimit: number
  /** channel of notifications, which all schemas of a database share */
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
    this.description = descriptionOf(this.#config)
    this.#pool = new Pool({ max: READERS, ...this.#config })
    // without this listener, losing an idle connection would end the process
    this.#pool.on('error', () => undefined)
  }

  async query<Row extends object>(statement: Statement): Promise<Answer<Row>> {
    try {
      const { rows, rowCount } = await this.#pool.query<Row>(statement)
      return { rows, count: rowCount ?? 0 }
    } catch (error) {
      throw storeError(this.description, error)
    }
  }

  /** Runs a read-only statement. Retries while the server is away, up to `patience`. */
  async read<Row extends object>(statement: Statement): Promise<readonly Row[]> {
    const start = performance.now()
    for (let pause = 0; ; pause = Math.min(Math.max(20, pause * 2), 1000)) {
      try {
        return (await this.#pool.query<Row>(statement)).rows
      } catch (error) {
        const isOver = performance.now() - start + pause > this.patience
        if (!isConnectionLoss(error) || (isOver && pause > 0)) throw storeError(this.description, error)
        if (pause > 0) await delay(pause)
      }
    }
  }

  /** Runs several statements in one transaction on one connection; each may take long. */
  async transaction<R>(work: (query: Database['query']) => Promise<R>): Promise<R> {
    const client = await this.#pool.connect().catch((error: unknown) => {
      throw storeError(this.description, error)
    })
    let broken: Error | undefined
    // a lost connection is reported to this listener as well as to the pending statement
    const onError = (error: Error): void => void (broken = error)
    client.on('error', onError)
    try {
      await client.query('begin')
      const result = await work((statement) => execute(client, { ...statement, query_timeout: LONG_WORK }))
      await client.query('commit')
      return result
    } catch (error) {
      // closing the connection instead of a rollback makes sure that nothing remains
      broken ??= error instanceof Error ? error : new Error('failed')
      throw storeError(this.description, error)
    } finally {
      client.off('error', onError)
      client.release(broken)
    }
  }

  /** Opens a dedicated connection that pipelines statements. */
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

/** Reads bigint as number: versions, positions and times stay far below 2^53. */
const getTypeParser: typeof types.getTypeParser = (oid: number, format?: unknown) =>
  oid === INT8 ? Number : (types.getTypeParser as (oid: number, format?: unknown) => unknown)(oid, format)

function descriptionOf(config: PoolConfig): string {
  try {
    const { host, port, database } = new Client(config)
    const where = host.startsWith('/') ? host : `${host}:${port}`
    return `PostgreSQL at ${where}, database ${database ?? ''}`
  } catch (error) {
    throw new AppError(
      'STORE',
      'the address of the database is invalid; use a form such as postgresql://user:password@host:5432/database',
      {
        cause: error,
      },
    )
  }
}

export async function execute<Row extends object>(client: ClientBase, statement: Statement): Promise<Answer<Row>> {
  const { rows, rowCount } = await client.query<Row>(statement)
  return { rows, count: rowCount ?? 0 }
}
