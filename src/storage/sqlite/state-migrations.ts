/** The form of state.db: collections and logs. Tables of a collection are made when it is first used (`CollectionTables`). */
import type { Migrations } from './migrate.ts'

export const STATE_MIGRATIONS: Migrations = [
  `
  CREATE TABLE tenants (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

  -- What the field tables of a collection were made from; form: the fields and their types as JSON
  CREATE TABLE collections (name TEXT PRIMARY KEY, version INTEGER NOT NULL, form TEXT NOT NULL, filled INTEGER NOT NULL) STRICT, WITHOUT ROWID;

  CREATE TABLE partitions (
    key INTEGER PRIMARY KEY, tenant TEXT NOT NULL, log TEXT NOT NULL, partition INTEGER NOT NULL,
    first INTEGER NOT NULL, last INTEGER NOT NULL, UNIQUE (tenant, log, partition)
  ) STRICT;

  -- Entries that were appended together share a row: "last" is the position of its last entry, "bodies" a JSON array
  CREATE TABLE entries (
    key INTEGER PRIMARY KEY, partition INTEGER NOT NULL, last INTEGER NOT NULL, count INTEGER NOT NULL, bodies TEXT NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX entries_by_position ON entries (partition, last);
  `,
  `
  -- Field tables have another layout: each is made anew from the documents, when its collection is first used
  UPDATE collections SET filled = 0;
  `,
  `
  -- An append does not touch its partition: "last" is the position of the last entry as of when entries were last
  -- forgotten, since then it is that of the newest entry. Nothing changes in the file, but who does not know that
  -- must not write it
  SELECT 1;
  `,
]
