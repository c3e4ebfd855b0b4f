/** Creates a database file, or rejects a file of another format. */
import { AppError } from '#kernel'
import type { Database } from './database.ts'

/** Application id in the header of our files: "RFXA". */
const APPLICATION = 0x52465841

export interface FileForm {
  /** increase it with every change, since files of other numbers are rejected */
  readonly number: number
  readonly tables: string
}

export function openForm(db: Database, file: string, form: FileForm): void {
  const [others = 0] = db.row<[number]>('SELECT count(*) FROM sqlite_schema') ?? []
  if (others > 0) return requireForm(db, file, form)
  db.transaction(() => {
    db.exec(form.tables)
    db.exec(`PRAGMA application_id = ${APPLICATION}`)
    db.exec(`PRAGMA user_version = ${form.number}`)
  })
}

export function requireForm(db: Database, file: string, { number }: FileForm): void {
  const [version = 0] = db.row<[number]>('PRAGMA user_version') ?? []
  const [application = 0] = db.row<[number]>('PRAGMA application_id') ?? []
  if (application !== APPLICATION) {
    throw new AppError('STORE', `${file}: is a database of another program; choose another data folder`)
  }
  if (version === number) return
  const age = version > number ? 'a newer' : 'an older'
  throw new AppError(
    'STORE',
    `${file}: was written by ${age} version of this program (format ${version}, this one reads format ${number}); ` +
      'run that version, or choose an empty data folder',
  )
}
