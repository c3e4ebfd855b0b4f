/** Opens storage on PostgreSQL 15 or later. Several hosts may share it: STORE-1 to STORE-5 hold for all together. */
import type { PoolConfig } from 'pg'
import { AppError } from '#kernel'
import type { BlobMedium } from '../blob-medium.ts'
import { type Access, checkedCollection, checkedLog, checkedSeries } from '../checked-store.ts'
import type {
  Collection,
  CollectionSpec,
  Committed,
  Document,
  Log,
  Presence,
  Series,
  Storage,
  Store,
  StoreTime,
  Write,
} from '../contract.ts'
import { compareText } from '../order.ts'
import { prepareWrites } from '../prepare-writes.ts'
import { columnsOf } from '../sample-columns.ts'
import { checkTenant } from '../tenant.ts'
import type { Database } from './database.ts'
import { Opened } from './opened.ts'
import type { LockMode } from './store-lock.ts'

export interface PostgresOptions {
  /** `postgresql://user:password@host:port/database`; for a socket, its folder as `?host=/folder` */
  readonly url?: string
  /** settings of the package pg, in addition to the URL or in its place */
  readonly config?: PoolConfig
  /** schema of all tables, created if needed; default `reflexarc` */
  readonly schema?: string
  /** medium for objects; closed together with the storage */
  readonly blobs: BlobMedium
  /** epoch ms, for expiry; default: the machine's clock */
  readonly clock?: () => number
  /** ms for which calls wait for a lost server before failing with `UNAVAILABLE`; default 10,000 */
  readonly patience?: number
  /** default: no lock. If a process loses the lock, its later calls are rejected with `STORE` */
  readonly lock?: LockMode
}

/** ms for which a stalled host may hold a transaction open, which delays a takeover */
const SHARED_IDLE_LIMIT = 2_000

/** Throws `STORE` when the server is unusable, or the schema has another version or is locked. */
export async function openPostgres(options: PostgresOptions): Promise<Storage> {
  const { url, config, schema = 'reflexarc', blobs, clock = Date.now, patience = 10_000, lock } = options
  if (schema === '' || schema.includes('\0') || Buffer.byteLength(schema) > 63) {
    throw new AppError('VALIDATION', `${JSON.stringify(schema)} is not a valid name of a schema; use 1 to 63 bytes`)
  }
  const idleLimit = lock === 'shared' ? { idleLimit: SHARED_IDLE_LIMIT } : {}
  const opened = new Opened({ url, config, schema, patience, ...idleLimit }, clock)
  try {
    if (lock !== undefined) await opened.lock(lock)
    await openSchema(opened.database)
  } catch (error) {
    await opened.close()
    const isAway = error instanceof AppError && error.code === 'UNAVAILABLE'
    throw isAway ? new AppError('STORE', error.message, { cause: error }) : error
  }
  return new PostgresStorage(opened, blobs)
}

class PostgresStorage implements Storage {
  readonly #opened: Opened
  readonly #blobs: BlobMedium
  #closing: Promise<void> | undefined

  constructor(opened: Opened, blobs: BlobMedium) {
    this.#opened = opened
    this.#blobs = blobs
  }

  tenant(id: string): Store {
    checkTenant(id)
    return new PostgresStore(this.#opened, id, this.#blobs)
  }

  tenants(): Promise<readonly string[]> {
    return this.#opened.act(async ({ tenants }) => {
      const lists = await Promise.all([tenants.list(), this.#blobs.tenants()])
      return [...new Set(lists.flat())].sort(compareText)
    })
  }

  close(): Promise<void> {
    this.#closing ??= this.#opened.close().then(() => this.#blobs.close())
    return this.#closing
  }

  get presence(): Presence | undefined {
    return this.#opened.presence
  }

  async notify(word: string): Promise<void> {
    await this.#opened.act(({ database }) =>
      database.read({ text: 'select pg_notify($1, $2)', values: [database.channel, word] }),
    )
  }

  stats() {
    const { queued, ...state } = this.#opened.stateWriter.stats
    return { ...state, queued: queued + this.#opened.seriesWriter.queued }
  }
}

class PostgresStore implements Store {
  readonly series: Series
  readonly #access: Access
  readonly blobs: Store['blobs']
  readonly #opened: Opened
  readonly #tenant: string

  constructor(opened: Opened, tenant: string, blobs: BlobMedium) {
    this.#opened = opened
    this.#tenant = tenant
    this.#access = { run: (work) => opened.act(work), commit: (writes) => this.commit(writes) }
    const { seriesReader, seriesWriter, seriesExpiry } = opened
    this.series = checkedSeries(this.#access, opened.clock, {
      append: (batch) => seriesWriter.write({ kind: 'append', tenant, ...batch }),
      applied: (log) => seriesReader.applied(tenant, log),
      range: (query, now) => seriesReader.range(tenant, query, now),
      columns: async (query, now) => columnsOf(await seriesReader.range(tenant, query, now)),
      buckets: (query, now) => seriesReader.buckets(tenant, query, now),
      latest: (resource, metric, now) => seriesReader.latest(tenant, resource, metric, now),
      messages: (query, now) => seriesReader.messages(tenant, query, now),
      names: (query) => seriesReader.names(tenant, query),
      remove: (what) => seriesWriter.write({ kind: 'remove', tenant, ...what }),
      expire: (now) => seriesExpiry.expire(tenant, now),
    })
    this.blobs = blobs.tenant(tenant)
  }

  collection<D extends Document>(spec: CollectionSpec<D>): Collection<D> {
    const known = this.#opened.specs.know(spec)
    const { documents, tables } = this.#opened
    const [tenant, table] = [this.#tenant, () => tables.of(known)]
    return checkedCollection(spec, known, this.#access, {
      get: (id) => documents.get<D>(table(), tenant, id),
      getMany: (ids) => documents.getMany<D>(table(), tenant, ids),
      find: (query) => documents.find<D>(table(), tenant, query),
      ids: (query) => documents.ids(table(), tenant, query),
      count: (where) => documents.count(table(), tenant, where),
      countBy: (field, where) => documents.countBy(table(), tenant, field, where),
    })
  }

  log(name: string): Log {
    const { logs } = this.#opened
    const tenant = this.#tenant
    return checkedLog(name, this.#access, {
      read: (after, limit) => logs.read(tenant, name, after, limit),
      bounds: () => logs.bounds(tenant, name),
      trim: (upTo) => logs.trim(tenant, name, upTo),
    })
  }

  commit(writes: readonly Write[]): Promise<Committed> {
    return this.#opened.act(async ({ specs, stateWriter }) => {
      const prepared = prepareWrites(writes, specs)
      const unit = { tenant: this.#tenant, writes: prepared }
      return { results: prepared.length === 0 ? [] : await stateWriter.commit(unit) }
    })
  }

  /** Returns the server's time, since clocks of hosts may differ. */
  now(): Promise<StoreTime> {
    return this.#opened.act(async ({ database }) => {
      const text = 'select floor(extract(epoch from clock_timestamp()) * 1000)::int8 as ms'
      const [time] = await database.read<StoreTime>({ text })
      if (time === undefined) throw new AppError('STORE', `${database.description} returned no time`)
      return { ms: time.ms }
    })
  }
}

const OLDEST_SERVER = 150_000

/** Increase this with every change of tables or of log entries (`src/log`): schemas of another format are rejected. */
const FORMAT = 3

/** `$schema` is replaced by the schema's name. */
const TABLES: readonly string[] = [
  'create table $schema.tenants (name text collate "C" primary key)',
  // The last commit of each connection, so that its outcome can be read after the connection is lost
  'create table $schema.lanes (id text collate "C" primary key, batch bigint not null, seen timestamptz not null)',
  'create table $schema.collections (name text collate "C" primary key, version bigint not null, shape text not null)',
  `create table $schema.logs (
       tenant text collate "C", log text collate "C", first bigint not null, last bigint not null,
       primary key (tenant, log)
     ) with (fillfactor = 50)`,
  `create table $schema.log_entries (
       tenant text collate "C", log text collate "C", position bigint, body text not null,
       primary key (tenant, log, position)
     )`,
  `create table $schema.series (
       series bigint generated always as identity unique,
       tenant text collate "C", resource text collate "C", metric text collate "C",
       primary key (tenant, resource, metric)
     )`,
  // `number` stores numbers; `other` stores any other value as JSON text
  `create table $schema.samples (
       series bigint, time bigint, number double precision, other text, expires bigint,
       primary key (series, time)
     )`,
  'create index on $schema.samples (expires) where expires is not null',
  `create table $schema.messages (
       arrival bigint generated always as identity primary key,
       tenant text collate "C" not null, resource text collate "C" not null, stream text collate "C" not null,
       time bigint not null, digest bytea not null, body text not null, expires bigint
     )`,
  // The same body at the same time counts as the same message
  'create unique index on $schema.messages (tenant, resource, stream, time, digest)',
  'create index on $schema.messages (expires) where expires is not null',
  `create table $schema.series_applied (
       tenant text collate "C", log text collate "C", position bigint not null,
       primary key (tenant, log)
     )`,
]

/** Throws `STORE` when the server is too old or not in UTF-8, or the schema has another version. */
export async function openSchema(database: Database): Promise<void> {
  await database.transaction(async (query) => {
    const { rows: servers } = await query<{ version: number; encoding: string }>({
      text: `select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding`,
    })
    const [server] = servers
    if (server === undefined || server.version < OLDEST_SERVER) {
      throw refused(database, 'is older than version 15', 'use a newer server')
    }
    if (server.encoding !== 'UTF8') {
      throw refused(database, `uses the encoding ${server.encoding}`, `create it with encoding 'UTF8'`)
    }
    const { schema } = database
    await query({ text: 'select pg_advisory_xact_lock(hashtextextended($1, 0))', values: [`reflexarc ${schema}`] })
    // created only if missing, since the user may lack the permission
    const { count } = await query({
      text: 'select from pg_namespace where nspname = $1',
      values: [database.schemaName],
    })
    if (count === 0) await query({ text: `create schema ${schema}` })
    await query({
      text: `create table if not exists ${schema}.migrations (version int primary key, at timestamptz not null)`,
    })
    const { rows } = await query<{ version: number | null }>({
      text: `select max(version) as version from ${schema}.migrations`,
    })
    const format = rows[0]?.version ?? 0
    if (format === FORMAT) {
      // removes lanes of killed hosts; a live host inserts its row again
      await query({ text: `delete from ${schema}.lanes where seen < now() - interval '30 days'` })
      return
    }
    if (format > 0) {
      const age = format > FORMAT ? 'a newer' : 'an older'
      throw refused(
        database,
        `schema ${schema}, was written by ${age} version of this program (format ${format}, this one reads format ${FORMAT})`,
        'run that version, or use another schema',
      )
    }
    for (const table of TABLES) await query({ text: table.replaceAll('$schema', () => schema) })
    await query({ text: `insert into ${schema}.migrations values ($1, now())`, values: [FORMAT] })
  })
}

function refused(database: Database, what: string, hint: string): AppError {
  return new AppError('STORE', `${database.description}, ${what}; ${hint}`)
}
