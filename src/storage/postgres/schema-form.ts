/** Creates the tables that do not depend on a collection. Tables of collections are created on first use. */
import { AppError } from '#kernel'
import type { Database } from './database.ts'

const OLDEST_SERVER = 150_000

/** Increase this with every change of tables or of log entries (`src/log`): schemas of another format are rejected. */
const FORMAT = 2

/** `$schema` is replaced by the schema's name. */
const TABLES: readonly string[] = [
  'create table $schema.tenants (name text collate "C" primary key)',
  // The last commit of each connection, so that its outcome can be read after the connection is lost
  'create table $schema.lanes (id text collate "C" primary key, batch bigint not null, seen timestamptz not null)',
  'create table $schema.collections (name text collate "C" primary key, version bigint not null, shape text not null)',
  `create table $schema.log_partitions (
       tenant text collate "C", log text collate "C", partition bigint,
       first bigint not null, last bigint not null,
       primary key (tenant, log, partition)
     ) with (fillfactor = 50)`,
  `create table $schema.log_entries (
       tenant text collate "C", log text collate "C", partition bigint, position bigint, body text not null,
       primary key (tenant, log, partition, position)
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
       tenant text collate "C", log text collate "C", partition bigint, position bigint not null,
       primary key (tenant, log, partition)
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
