/** Defines the format of state.db, which stores collections and logs. */
import type { FileForm } from './file-form.ts'

export const STATE_FORM: FileForm = {
  // increased for changes of log entries (`src/log`) as well; never equal to the number of series.db
  number: 8,
  tables: `
  CREATE TABLE tenants (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

  -- What the field tables of a collection were made from; form: the fields and their types as JSON
  CREATE TABLE collections (name TEXT PRIMARY KEY, version INTEGER NOT NULL, form TEXT NOT NULL, filled INTEGER NOT NULL) STRICT, WITHOUT ROWID;

  -- An append does not touch its log: "last" is the position of the last entry as of when entries were last
  -- forgotten, since then it is that of the newest entry
  CREATE TABLE logs (
    key INTEGER PRIMARY KEY, tenant TEXT NOT NULL, log TEXT NOT NULL,
    first INTEGER NOT NULL, last INTEGER NOT NULL, UNIQUE (tenant, log)
  ) STRICT;

  -- Entries that were appended together share a row: "last" is the position of its last entry, "bodies" a JSON array;
  -- "sum" is that of all else (\`sumOf\`)
  CREATE TABLE entries (
    key INTEGER PRIMARY KEY, log INTEGER NOT NULL, last INTEGER NOT NULL, count INTEGER NOT NULL, bodies TEXT NOT NULL,
    sum INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX entries_by_position ON entries (log, last);
  `,
}
