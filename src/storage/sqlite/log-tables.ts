/** The writes of logs. Works inside the transaction of its caller. */
import type { Database } from './database.ts'
import type { LogChunk } from './state-jobs.ts'

export class LogTables {
  readonly #db: Database
  constructor(db: Database) {
    this.#db = db
  }

  /** Gives the position of the last. The counter moves in the transaction of the entries, so positions have no gaps. */
  append(tenant: string, log: string, partition: number, chunks: readonly LogChunk[]): number {
    const count = chunks.reduce((sum, chunk) => sum + chunk.count, 0)
    const [key = 0, last = 0] = this.#db.row<[number, number]>(ADVANCE, tenant, log, partition, count) ?? []
    let position = last - count
    for (const chunk of chunks) {
      position += chunk.count
      this.#db.run(APPEND, key, position, chunk.count, chunk.bodies)
    }
    return last
  }

  trim(tenant: string, log: string, partition: number, upTo: number): void {
    const [key, first] = this.#db.row<[number, number]>(KEEP, upTo, tenant, log, partition, upTo) ?? []
    // A row whose last entry is kept stays whole; readers skip those of its entries that are forgotten.
    if (key !== undefined && first !== undefined) this.#db.run(FORGET, key, first)
  }
}

const ADVANCE = `
  INSERT INTO partitions (tenant, log, partition, first, last) VALUES (?, ?, ?, 1, ?)
  ON CONFLICT (tenant, log, partition) DO UPDATE SET last = last + excluded.last RETURNING key, last`
const APPEND = 'INSERT INTO entries (partition, last, count, bodies) VALUES (?, ?, ?, ?)'
const KEEP = `
  UPDATE partitions SET first = min(?, last) + 1
  WHERE tenant = ? AND log = ? AND partition = ? AND first <= ? RETURNING key, first`
const FORGET = 'DELETE FROM entries WHERE partition = ? AND last < ?'
