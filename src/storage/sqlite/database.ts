/** Opens database files, and caches prepared statements. */
import { DatabaseSync, type StatementSync } from 'node:sqlite'
import { AppError, LruCache, messageOf } from '#kernel'
import { sqliteError } from './failure.ts'

/** ms for which a reader waits while a file is being recovered */
const BUSY_MS = 5_000
/** maximum number of cached statements whose text depends on a query; constant statements are few */
const MAX_STATEMENTS = 300

export interface WriterSettings {
  /** `FULL`: every commit is synced; `NORMAL`: a power cut, but not a crash, may undo the last commits */
  readonly synchronous: 'FULL' | 'NORMAL'
  readonly cacheMb: number
  /** pages of 4 KiB per checkpoint; a checkpoint delays other syncs of the disk */
  readonly checkpointPages: number
}

/** Throws `STORE` when the file cannot be used. */
export function openWriter(file: string, { synchronous, cacheMb, checkpointPages }: WriterSettings): Database {
  return open(file, false, (db) => {
    // set the journal mode first: this fails for a read-only folder, or a file that is not a database
    db.exec('PRAGMA journal_mode = WAL')
    db.exec(`PRAGMA synchronous = ${synchronous}`)
    db.exec(`PRAGMA cache_size = -${cacheMb * 1024}`)
    db.exec(`PRAGMA wal_autocheckpoint = ${checkpointPages}`)
    db.exec(`PRAGMA journal_size_limit = ${64 * 1024 * 1024}`)
    db.exec('PRAGMA temp_store = MEMORY')
  })
}

/** Read-only; sees what was committed when a statement or a `BEGIN` starts. */
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
      `${file}: cannot be opened as a database (${messageOf(error)}); the data folder must be writable and contain only files of this program`,
      { cause: error },
    )
  }
}

export class Database {
  readonly #db: DatabaseSync
  readonly #statements = new LruCache<string, StatementSync>(MAX_STATEMENTS)

  constructor(db: DatabaseSync) {
    this.#db = db
  }

  /** Runs SQL that consists of constant text and validated names. */
  exec(sql: string): void {
    this.#db.exec(sql)
  }

  /** Write a bound limit as `LIMIT 0 + ?`: otherwise SQLite plans the statement again for each value. */
  statement(sql: string): StatementSync {
    const known = this.#statements.get(sql)
    if (known !== undefined) return known
    const statement = this.#db.prepare(sql)
    statement.setReturnArrays(true)
    this.#statements.set(sql, statement)
    return statement
  }

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

  transaction<Result>(work: () => Result): Result {
    this.run('BEGIN')
    try {
      const result = work()
      this.run('COMMIT')
      return result
    } catch (error) {
      // a full disk may have ended the transaction already
      if (this.#db.isTransaction) this.#db.exec('ROLLBACK')
      throw error
    }
  }

  /** Like `transaction`, for a `NORMAL` connection: syncs this commit together with all earlier ones. */
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
