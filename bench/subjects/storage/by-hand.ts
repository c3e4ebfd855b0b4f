/**
 * The limit: SQLite in the thread that asks, with tables made for nothing but this, transactions of a fixed size and
 * statements prepared by hand. It stalls its thread for as long as it works, knows no tenants, versions or late samples.
 */
import { join } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { DOCUMENTS, documentOf, HOUR, idOf, KNOWN, SERIES_START, WINDOW } from './workload.ts'
import type { StorageSubject, Subject } from './subject.ts'

/** writes of one transaction, where single ones are handed over side by side */
const GROUP = 64

export function openByHand(folder: string): { subjects: Record<StorageSubject, Subject>; close(): Promise<void> } {
  const state = open(join(folder, 'state.db'), 'FULL')
  const series = open(join(folder, 'series.db'), 'NORMAL')
  state.exec(`
    CREATE TABLE tasks (id TEXT PRIMARY KEY, body TEXT) STRICT;
    CREATE TABLE fields (id TEXT PRIMARY KEY, status TEXT, template TEXT, name TEXT, tag TEXT, created REAL) STRICT, WITHOUT ROWID;
    CREATE INDEX by_status ON fields (status); CREATE INDEX by_template ON fields (template);
    CREATE INDEX by_name ON fields (name); CREATE INDEX by_tag ON fields (tag); CREATE INDEX by_created ON fields (created);
    CREATE TABLE log (position INTEGER PRIMARY KEY, body TEXT) STRICT`)
  series.exec(`
    CREATE TABLE samples (series INTEGER, time INTEGER, value REAL, PRIMARY KEY (series, time)) STRICT, WITHOUT ROWID`)
  const subjects = { ...documents(state), ...logs(state), ...samples(series) }
  return {
    subjects,
    async close() {
      state.close()
      series.close()
    },
  }
}

function open(file: string, synchronous: string): DatabaseSync {
  const db = new DatabaseSync(file)
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}; PRAGMA cache_size = -65536`)
  return db
}

function grouped(db: DatabaseSync, write: (n: number) => void): (n: number) => void {
  return (n) => {
    if (n % GROUP === 0) db.exec('BEGIN')
    write(n)
    if (n % GROUP === GROUP - 1) db.exec('COMMIT')
  }
}

function documents(db: DatabaseSync) {
  const body = db.prepare('INSERT INTO tasks VALUES (?, ?) ON CONFLICT DO UPDATE SET body = excluded.body')
  const fields = db.prepare('INSERT OR REPLACE INTO fields VALUES (?, ?, ?, ?, ?, ?)')
  const get = db.prepare('SELECT body FROM tasks WHERE id = ?')
  const filter = "status = 'running' AND template = 'template-3'"
  const page = db.prepare(`
    SELECT t.body FROM (SELECT id FROM fields INDEXED BY by_created WHERE ${filter} ORDER BY created DESC LIMIT 100) AS f
    JOIN tasks AS t ON t.id = f.id`)
  const count = db.prepare(`SELECT count(*) FROM fields NOT INDEXED WHERE ${filter}`)
  const write = (n: number, withFields: boolean): void => {
    const task = documentOf(n)
    body.run(idOf(n), JSON.stringify(task))
    const { status, template, name, tags, created } = task
    if (withFields) fields.run(idOf(n), status, template, name, tags[0] ?? null, created)
  }
  const prepare = (count: number): void => {
    db.exec('BEGIN')
    for (let n = 0; n < count; n += 1) write(n, true)
    db.exec('COMMIT')
  }
  const list: Subject = {
    things: 1,
    prepare: () => prepare(DOCUMENTS),
    run: () => [...rows(page).map((row) => JSON.parse(row['body'] as string) as unknown), count.get()],
  }
  return {
    create: { things: 1, run: grouped(db, (n) => write(n, true)) },
    update: { things: 1, prepare: () => prepare(KNOWN), run: grouped(db, (n) => write(n % KNOWN, false)) },
    get: {
      things: 1,
      prepare: () => prepare(KNOWN),
      run: (n: number) => JSON.parse(get.get(idOf((n * 7919) % KNOWN))?.['body'] as string) as unknown,
    },
    page: list,
    pageAfterWrite: list,
  }
}

function logs(db: DatabaseSync) {
  const append = db.prepare('INSERT INTO log (body) VALUES (?)')
  return {
    append: { things: 1, run: grouped(db, () => append.run(JSON.stringify(WINDOW[0]))) },
    appendWindow: {
      things: WINDOW.length,
      run() {
        db.exec('BEGIN')
        for (const message of WINDOW) append.run(JSON.stringify(message))
        db.exec('COMMIT')
      },
    },
  }
}

function samples(db: DatabaseSync) {
  const insert = db.prepare('INSERT OR REPLACE INTO samples VALUES (?, ?, ?)')
  const batch = (n: number, length: number): void => {
    db.exec('BEGIN')
    for (let i = n * length; i < (n + 1) * length; i += 1) insert.run(i % 100, SERIES_START + i * 10, i * 1.5)
    db.exec('COMMIT')
  }
  const hourly = db.prepare(`
    SELECT (time - ?1) / ?3 AS bucket, avg(value) FROM samples WHERE series = 0 AND time >= ?1 AND time < ?2 GROUP BY bucket`)
  const from = BigInt(SERIES_START)
  return {
    samples1: { things: 1, run: grouped(db, (n) => insert.run(n % 100, SERIES_START + n * 10, n * 1.5)) },
    samples100: { things: 100, run: (n: number) => batch(n, 100) },
    samples1000: { things: 1_000, run: (n: number) => batch(n, 1_000) },
    hourly: {
      things: 1,
      prepare() {
        db.exec('BEGIN')
        for (let i = 0; i < 1_000_000; i += 1) insert.run(0, SERIES_START + i * 1_000, i * 1.5)
        db.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)')
      },
      run: () => hourly.all(from, from + 1_000_000_000n, BigInt(HOUR)),
    },
  }
}

function rows(statement: StatementSync): Record<string, unknown>[] {
  return statement.all()
}
