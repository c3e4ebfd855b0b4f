/** Brings a database file to the newest form, step by step, each step once. */
import { AppError } from '../../kernel/errors.ts'
import type { Database } from './database.ts'

/** Marks a file as ours: "RFXA". */
const APPLICATION = 0x52465841

/** Step n is at place n - 1. Steps are never changed once released, only added. */
export type Migrations = readonly string[]

/** `STORE` when a newer version wrote the file, or something else did. */
export function migrate(db: Database, file: string, steps: Migrations): void {
  const [version = 0] = db.row<[number]>('PRAGMA user_version') ?? []
  const [application = 0] = db.row<[number]>('PRAGMA application_id') ?? []
  const [tables = 0] = db.row<[number]>('SELECT count(*) FROM sqlite_schema') ?? []
  if (application !== APPLICATION && tables > 0)
    throw new AppError('STORE', `${file}: is a database that another program made; choose another data folder`)
  if (version > steps.length) {
    throw new AppError(
      'STORE',
      `${file}: was written by a newer version of this program (format ${version}, this one knows up to ${steps.length}); run that version, or restore an older copy of the folder`,
    )
  }
  for (let step = version; step < steps.length; step++) {
    db.transaction(() => {
      db.exec(steps[step] ?? '')
      db.exec(`PRAGMA application_id = ${APPLICATION}`)
      db.exec(`PRAGMA user_version = ${step + 1}`)
    })
  }
}
