/** Points in a table of SQLite's own, by series and time: what a store of rows would have. */
import { DatabaseSync } from 'node:sqlite'

export type Point = readonly [series: number, time: number, value: number]

/** A table `samples` of series, time and value in a new file. */
export function samplesByHand(file: string, points: Iterable<Point>): DatabaseSync {
  const db = new DatabaseSync(file)
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA cache_size = -32768; BEGIN;
    CREATE TABLE samples (series INTEGER, time INTEGER, value REAL, PRIMARY KEY (series, time)) STRICT, WITHOUT ROWID`)
  const insert = db.prepare('INSERT INTO samples VALUES (?, ?, ?)')
  for (const point of points) insert.run(...point)
  db.exec('COMMIT')
  return db
}
