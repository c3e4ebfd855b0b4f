/** Defines the format of series.db, which stores samples, messages, and applied positions of logs. */
import type { FileForm } from './file-form.ts'

/**
 * Samples are first in `arrivals` (blocks, in order of arrival), and then in `chunks` (by series and time). At equal times `arrivals` win, then small chunks, then others. `sum` is the row's checksum. The newest
 * messages are in `message_blocks`, whose bodies have a checksum of their own; others in `messages`.
 */
export const SERIES_FORM: FileForm = {
  // never equal to the number of state.db
  number: 9,
  tables: `
  CREATE TABLE tenants (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

  CREATE TABLE series (
    key INTEGER PRIMARY KEY, tenant TEXT NOT NULL, resource TEXT NOT NULL, metric TEXT NOT NULL,
    UNIQUE (tenant, resource, metric)
  ) STRICT;
  -- The words are a JSON list of the texts among the values
  CREATE TABLE arrivals (key INTEGER PRIMARY KEY, samples BLOB NOT NULL, words TEXT, sum INTEGER NOT NULL) STRICT;
  -- small: 1 if it may overlap others; form: flags of the blob; due: when enough have expired for a rewrite
  CREATE TABLE chunks (
    key INTEGER PRIMARY KEY, series INTEGER NOT NULL, small INTEGER NOT NULL, first INTEGER NOT NULL,
    last INTEGER NOT NULL, count INTEGER NOT NULL, form INTEGER NOT NULL, due INTEGER, samples BLOB NOT NULL,
    words TEXT, sum INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX chunks_by_time ON chunks (series, small, last, first);
  CREATE INDEX chunks_by_due ON chunks (due) WHERE due IS NOT NULL;

  CREATE TABLE streams (
    key INTEGER PRIMARY KEY, tenant TEXT NOT NULL, resource TEXT NOT NULL, stream TEXT NOT NULL,
    UNIQUE (tenant, resource, stream)
  ) STRICT;
  -- The digest is of the body: the same message at the same time is the same message
  CREATE TABLE messages (
    key INTEGER PRIMARY KEY, stream INTEGER NOT NULL, time INTEGER NOT NULL, digest BLOB NOT NULL, body TEXT NOT NULL,
    expires INTEGER, sum INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX messages_by_time ON messages (stream, time, digest);
  CREATE INDEX messages_by_expiry ON messages (expires) WHERE expires IS NOT NULL;
  -- key: counts arrivals as the rows of messages do; expires: when the first of them does
  CREATE TABLE message_blocks (
    key INTEGER PRIMARY KEY, count INTEGER NOT NULL, expires INTEGER, streams BLOB NOT NULL, times BLOB NOT NULL,
    expiries BLOB, sum INTEGER NOT NULL, ends BLOB NOT NULL, bodies TEXT NOT NULL, bodies_sum INTEGER NOT NULL
  ) STRICT;

  CREATE TABLE applied (
    tenant TEXT NOT NULL, log TEXT NOT NULL, position INTEGER NOT NULL,
    PRIMARY KEY (tenant, log)
  ) STRICT, WITHOUT ROWID;
  `,
}
