/** Writes logs, inside the transactions of the caller; entries of one transaction share rows, until `flush`. */
import { sumOf } from './checksum.ts'
import type { Database } from './database.ts'
import { MAX_CHARACTERS, MAX_ENTRIES, TRIM_ROWS, type LogChunk } from './state-jobs.ts'

/** Cached state of a log. Only this object writes it, so it is valid until a transaction fails. */
interface KnownLog {
  readonly key: number
  /** position of the last entry, including buffered ones */
  last: number
  held: string[]
  count: number
  characters: number
}

export class LogTables {
  readonly #db: Database
  readonly #known = new Map<string, KnownLog>()
  readonly #changed = new Set<KnownLog>()

  constructor(db: Database) {
    this.#db = db
  }

  /** A failed transaction drops the cached positions, so no gaps appear. */
  append(tenant: string, log: string, chunks: readonly LogChunk[]): number {
    const known = this.#logOf(tenant, log)
    this.#changed.add(known)
    for (const { count, bodies } of chunks) {
      if (known.count + count > MAX_ENTRIES || known.characters + bodies.length > MAX_CHARACTERS) this.#write(known)
      known.held.push(bodies)
      known.count += count
      known.characters += bodies.length
      known.last += count
    }
    return known.last
  }

  /** Writes buffered entries; call before the transaction ends. */
  flush(): void {
    for (const log of this.#changed) this.#write(log)
    this.#changed.clear()
    if (this.#known.size > MAX_KNOWN) this.#known.clear()
  }

  /** Drops cached and buffered data; call after a failed transaction. */
  forget(): void {
    this.#known.clear()
    this.#changed.clear()
  }

  /** At most `TRIM_ROWS` rows. */
  trim(tenant: string, log: string, upTo: number): number {
    this.flush()
    const [key = 0, first = 1, trimmed = 0] = this.#db.row<[number, number, number]>(KNOWN, tenant, log) ?? []
    if (key === 0) return 0
    // the last row is kept, since it records the last position
    const last = lastOf(this.#db, key, trimmed)
    const kept = Math.max(first, Math.min(upTo, last) + 1)
    if (kept > first) this.#db.run(KEEP, kept, last, key)
    // a row that contains both needed and unneeded entries stays whole; readers skip the latter
    return this.#db.run(FORGET, key, kept, TRIM_ROWS)
  }

  #logOf(tenant: string, log: string): KnownLog {
    // names of logs contain no blanks
    const name = `${log} ${tenant}`
    const before = this.#known.get(name)
    if (before !== undefined) return before
    const [key = 0, trimmed = 0] = this.#db.row<[number, number]>(FIND, tenant, log) ?? []
    const known: KnownLog = { key, last: lastOf(this.#db, key, trimmed), held: [], count: 0, characters: 0 }
    this.#known.set(name, known)
    return known
  }

  #write(log: KnownLog): void {
    const { key, last, held, count } = log
    if (count === 0) return
    const bodies = `[${held.join(',')}]`
    this.#db.run(APPEND, key, last, count, bodies, sumOf([key, last, count], bodies))
    log.held = []
    log.count = 0
    log.characters = 0
  }
}

/** Returns the position of the last entry of a log. `trimmed`: the last position when it was last trimmed. */
export function lastOf(db: Database, key: number, trimmed: number): number {
  const [last = trimmed] = db.row<[number]>(NEWEST, key) ?? []
  // when the newest entries are damaged, only the log's row still records the position
  return Math.max(last, trimmed)
}

const MAX_KNOWN = 10_000
const NEWEST = 'SELECT last FROM entries WHERE log = ? ORDER BY last DESC LIMIT 1'

/** Does not change an existing row, but only an update returns it. */
const FIND = `
  INSERT INTO logs (tenant, log, first, last) VALUES (?, ?, 1, 0)
  ON CONFLICT (tenant, log) DO UPDATE SET last = last RETURNING key, last`
const KNOWN = 'SELECT key, first, last FROM logs WHERE tenant = ? AND log = ?'
const APPEND = 'INSERT INTO entries (log, last, count, bodies, sum) VALUES (?, ?, ?, ?, ?)'
const KEEP = 'UPDATE logs SET first = ?, last = ? WHERE key = ?'
const FORGET = `
  DELETE FROM entries WHERE key IN (
    SELECT key FROM entries WHERE log = ? AND last < ? ORDER BY last LIMIT 0 + ?)`
