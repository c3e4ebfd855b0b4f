/** Opening database files, and statements that are prepared once. */
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { AppError, LruCache, messageOf } from '#kernel'
import { sqliteError } from './failure.ts'

/** ms that a reader waits for a file that recovers */
const BUSY_MS = 5_000
/** statements whose text depends on a query; the constant ones are few */
const MAX_STATEMENTS = 300

export interface WriterSettings {
  /** `FULL`: every commit reaches the disk; `NORMAL`: a power cut may undo the last ones, a killed process none */
  readonly synchronous: 'FULL' | 'NORMAL'
  readonly cacheMb: number
  /** so many written pages of 4 KiB are carried into the file at once, which holds up whoever syncs the same disk */
  readonly checkpointPages: number
}

/** `STORE` when the file cannot be used. */
export function openWriter(file: string, { synchronous, cacheMb, checkpointPages }: WriterSettings): Database {
  return open(file, false, (db) => {
    // The journal mode comes first: it fails where the folder cannot be written or the file is no database.
    db.exec('PRAGMA journal_mode = WAL')
    db.exec(`PRAGMA synchronous = ${synchronous}`)
    db.exec(`PRAGMA cache_size = -${cacheMb * 1024}`)
    db.exec(`PRAGMA wal_autocheckpoint = ${checkpointPages}`)
    db.exec(`PRAGMA journal_size_limit = ${64 * 1024 * 1024}`)
    db.exec('PRAGMA temp_store = MEMORY')
  })
}

/** A connection that cannot write. It sees what was committed when a statement or a `BEGIN` starts. */
export function openReader(file: string, cacheMb: number): Database {
  return open(file, true, (db) => {
    db.exec(`PRAGMA cache_size = -${cacheMb * 1024}`)
    db.exec('PRAGMA temp_store = MEMORY')
  })
}

function open(file: string, readOnly: boolean, configure: (db: DatabaseSync) => void): Database {
  let db: DatabaseSync | undefined
  try {
    db = new DatabaseSync(file, { readOnly, timeout: BUSY_MS })
    configure(db)
    return new Database(db)
  } catch (error) {
    db?.close()
    const damage = sqliteError(error)
    if (damage instanceof AppError && db !== undefined && readOnly) throw damage
    throw new AppError(
      'STORE',
      `${file}: cannot be opened as a database (${messageOf(error)}); the data folder must be writable and hold only what this program wrote`,
      { cause: error },
    )
  }
}

/** A connection with its prepared statements. */
export class Database {
  readonly #db: DatabaseSync
  readonly #statements = new LruCache<string, StatementSync>(MAX_STATEMENTS)

  constructor(db: DatabaseSync) {
    this.#db = db
  }

  /** Runs constant text, or text made of checked names only. */
  exec(sql: string): void {
    this.#db.exec(sql)
  }

  /**
   * Prepared once per text; rows come as arrays. A bound limit is written `LIMIT 0 + ?`: where it stands alone SQLite plans
   * the statement anew for each value, which costs several times what a small read does.
   */
  statement(sql: string): StatementSync {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const statement = this.#db.prepare(sql)
    statement.setReturnArrays(true)
    this.#statements.set(sql, statement)
    return statement
  }

  /** The rows; the caller says what the statement selects. */
  rows<Row extends readonly unknown[]>(sql: string, ...values: readonly SqlValue[]): Row[] {
    return this.statement(sql).all(...values) as unknown as Row[]
  }

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller says what its statement selects
  row<Row extends readonly unknown[]>(sql: string, ...values: readonly SqlValue[]): Row | undefined {
    try {
      return this.statement(sql).get(...values) as unknown as Row | undefined
    } catch (error) {
      throw sqliteError(error)
    }
  }

  run(sql: string, ...values: readonly SqlValue[]): number {
    return Number(this.statement(sql).run(...values).changes)
  }

  /** All of `work` or nothing, and one state of the file to all of its reads. */
  transaction<Result>(work: () => Result): Result {
    this.run('BEGIN')
    try {
      const result = work()
      this.run('COMMIT')
      return result
    } catch (error) {
      // A full disk may have ended the transaction already.
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
      throw error
    }
  }

  /** The same with a `NORMAL` connection, on the disk when it is done, with all that was committed before. */
  syncedTransaction<Result>(work: () => Result): Result {
    this.exec('PRAGMA synchronous = FULL')
    try {
      return this.transaction(work)
    } finally {
      this.exec('PRAGMA synchronous = NORMAL')
    }
  }

  close(): void {
    this.#statements.clear()
    this.#db.close()
  }
}

export type SqlValue = string | number | bigint | null | Uint8Array
