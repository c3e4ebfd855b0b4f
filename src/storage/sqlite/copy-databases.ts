/** Copies the two database files of a data folder as of one instant, while a host may write to them. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { AppError, messageOf } from '#kernel'
import { Database } from './database.ts'
import { requireForm } from './file-form.ts'
import { SERIES_FORM } from './series-form.ts'
import { STATE_FORM } from './state-form.ts'

/** Number of attempts to find a log that contains what series lack; it is trimmed only after series contain it. */
const ATTEMPTS = 20
/** Pages of 4 KiB per step; between steps, other work of this process runs. */
const PAGES = 1_000
const BUSY_MS = 5_000

/** What the copies contain. */
export interface CopiedDatabases {
  /** for each log of a tenant, the position of its last entry in the copy of state.db */
  readonly positions: readonly { readonly tenant: string; readonly log: string; readonly last: number }[]
}

/**
 * Copies `state.db` and `series.db` of `folder` into the folder `target`. The copy of series.db may be older than the
 * log in the copy of state.db, which then still contains all entries in between, so a host continues from there.
 * `progress` receives the share that is copied. Throws `STORE` when a file is missing, has another format, or cannot be
 * read or written.
 */
export async function copyDatabases(
  folder: string,
  target: string,
  progress: (share: number) => void,
): Promise<CopiedDatabases> {
  const open = (name: string, form: typeof STATE_FORM): DatabaseSync => {
    const file = join(folder, name)
    if (!existsSync(file)) {
      throw new AppError('STORE', `${file}: does not exist; use the data folder of a host that has started with SQLite`)
    }
    const db = new DatabaseSync(file, { readOnly: true, timeout: BUSY_MS })
    try {
      requireForm(new Database(db), file, form)
      return db
    } catch (error) {
      db.close()
      throw error
    }
  }
  const state = open('state.db', STATE_FORM)
  try {
    const series = open('series.db', SERIES_FORM)
    try {
      const positions = pinBoth(state, series)
      const copy = async (db: DatabaseSync, name: string, from: number, share: number): Promise<void> => {
        await backup(db, join(target, name), {
          rate: PAGES,
          progress: ({ totalPages, remainingPages }) =>
            progress(from + share * (1 - remainingPages / Math.max(1, totalPages))),
        })
      }
      await copy(series, 'series.db', 0, 0.5)
      await copy(state, 'state.db', 0.5, 0.5)
      return { positions }
    } finally {
      series.close()
    }
  } catch (error) {
    if (error instanceof AppError) throw error
    throw new AppError('STORE', `${folder}: cannot be copied: ${messageOf(error)}`, { cause: error })
  } finally {
    state.close()
  }
}

type Position = CopiedDatabases['positions'][number]

/** Begins a read transaction in each file, series first, so that the log contains what series lack. */
function pinBoth(state: DatabaseSync, series: DatabaseSync): readonly Position[] {
  for (let attempt = 1; ; attempt++) {
    series.exec('BEGIN')
    const applied = rowsOf<[string, number]>(series, `SELECT tenant || ' ' || log, position FROM applied`)
    state.exec('BEGIN')
    const logs = rowsOf<[string, number, string, string, number]>(
      state,
      `SELECT tenant || ' ' || log, first, tenant, log,
         max(last, coalesce((SELECT max(e.last) FROM entries e WHERE e.log = l.key), 0))
       FROM logs l ORDER BY tenant, log`,
    )
    const firstOf = new Map(logs.map(([key, first]) => [key, first]))
    const isGapless = applied.every(([key, position]) => position >= (firstOf.get(key) ?? 1) - 1)
    if (isGapless) {
      return logs.map(([, , tenant, log, last]) => ({ tenant, log, last }))
    }
    if (attempt === ATTEMPTS) {
      throw new AppError(
        'STORE',
        'series.db is older than the log in state.db, for example since a restored file was mixed with a newer one; ' +
          'start the host once, which reports and accepts the gap, and then back it up',
      )
    }
    state.exec('ROLLBACK')
    series.exec('ROLLBACK')
  }
}

// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- because the caller states what it selects
function rowsOf<Row extends readonly unknown[]>(db: DatabaseSync, sql: string): readonly Row[] {
  const statement = db.prepare(sql)
  statement.setReturnArrays(true)
  return statement.all() as unknown as readonly Row[]
}
