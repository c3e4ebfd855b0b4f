/**
 * The writes of logs. Works inside the transactions of its caller. Entries of one partition that are appended in one
 * transaction share rows, whoever appended them: a row costs far more than an entry. So they are held until `flush`.
 */
import { sumOf } from './checksum.ts'
import type { Database } from './database.ts'
import { MAX_CHARACTERS, MAX_ENTRIES, TRIM_ROWS, type LogChunk } from './state-jobs.ts'

/** This is the only writer, so what was read once stays true until a transaction fails. */
interface Partition {
  readonly key: number
  /** the position of the last entry, those that are held among them */
  last: number
  held: string[]
  count: number
  characters: number
}

export class LogTables {
  readonly #db: Database
  readonly #known = new Map<string, Partition>()
  readonly #changed = new Set<Partition>()

  constructor(db: Database) {
    this.#db = db
  }

  /** Gives the position of the last. What is counted here is forgotten with a transaction, so positions have no gaps. */
  append(tenant: string, log: string, partition: number, chunks: readonly LogChunk[]): number {
    const known = this.#partition(tenant, log, partition)
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

  /** Writes what is held: to be called before the transaction ends. */
  flush(): void {
    for (const partition of this.#changed) this.#write(partition)
    this.#changed.clear()
    if (this.#known.size > MAX_KNOWN) this.#known.clear()
  }

  /** To be called when a transaction failed: what was held or counted in it is not there. */
  forget(): void {
    this.#known.clear()
    this.#changed.clear()
  }

  /** Nobody reads the entries any more; of their rows at most `TRIM_ROWS` go. Gives how many went. */
  trim(tenant: string, log: string, partition: number, upTo: number): number {
    this.flush()
    const [key = 0, first = 1, trimmed = 0] =
      this.#db.row<[number, number, number]>(KNOWN, tenant, log, partition) ?? []
    if (key === 0) return 0
    // with its entries the position of the last would be forgotten
    const last = lastOf(this.#db, key, trimmed)
    const kept = Math.max(first, Math.min(upTo, last) + 1)
    if (kept > first) this.#db.run(KEEP, kept, last, key)
    // A row whose last entry is kept stays whole; readers skip those of its entries that are forgotten.
    return this.#db.run(FORGET, key, kept, TRIM_ROWS)
  }

  #partition(tenant: string, log: string, partition: number): Partition {
    // Names of logs have no blank in them.
    const name = `${partition} ${log} ${tenant}`
    const before = this.#known.get(name)
    if (before !== undefined) return before
    const [key = 0, trimmed = 0] = this.#db.row<[number, number]>(FIND, tenant, log, partition) ?? []
    const known: Partition = { key, last: lastOf(this.#db, key, trimmed), held: [], count: 0, characters: 0 }
    this.#known.set(name, known)
    return known
  }

  #write(partition: Partition): void {
    const { key, last, held, count } = partition
    if (count === 0) return
    const bodies = `[${held.join(',')}]`
    this.#db.run(APPEND, key, last, count, bodies, sumOf([key, last, count], bodies))
    partition.held = []
    partition.count = 0
    partition.characters = 0
  }
}

/** The position of the last entry of a partition; `trimmed`: as of when some of them were last forgotten. */
export function lastOf(db: Database, key: number, trimmed: number): number {
  const [last = trimmed] = db.row<[number]>(NEWEST, key) ?? []
  // of a log that lost its newest entries to damage, the partition alone has it
  return Math.max(last, trimmed)
}

const MAX_KNOWN = 10_000
const NEWEST = 'SELECT last FROM entries WHERE partition = ? ORDER BY last DESC LIMIT 1'

/** An update that changes nothing, because only then the row that is there is returned. */
const FIND = `
  INSERT INTO partitions (tenant, log, partition, first, last) VALUES (?, ?, ?, 1, 0)
  ON CONFLICT (tenant, log, partition) DO UPDATE SET last = last RETURNING key, last`
const KNOWN = 'SELECT key, first, last FROM partitions WHERE tenant = ? AND log = ? AND partition = ?'
const APPEND = 'INSERT INTO entries (partition, last, count, bodies, sum) VALUES (?, ?, ?, ?, ?)'
const KEEP = 'UPDATE partitions SET first = ?, last = ? WHERE key = ?'
const FORGET = `
  DELETE FROM entries WHERE key IN (
    SELECT key FROM entries WHERE partition = ? AND last < ? ORDER BY last LIMIT 0 + ?)`
