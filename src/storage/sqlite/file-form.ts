/** Makes a database file, or refuses one that has another form. */
import { AppError } from '../../kernel/errors.ts'
import type { Database } from './database.ts'

/** Marks a file as ours: "RFXA". */
const APPLICATION = 0x52465841

export interface FileForm {
  /** raised whenever the form changes: files of other forms are refused */
  readonly number: number
  /** makes all tables of an empty file */
  readonly tables: string
}

/** `STORE` when another version wrote the file, or something else did. */
export function openForm(db: Database, file: string, { number, tables }: FileForm): void {
  const [version = 0] = db.row<[number]>('PRAGMA user_version') ?? []
  if (version === number && isOurs(db)) return
  const [others = 0] = db.row<[number]>('SELECT count(*) FROM sqlite_schema') ?? []
  if (others > 0) throw refusal(db, file, version, number)
  db.transaction(() => {
    db.exec(tables)
    db.exec(`PRAGMA application_id = ${APPLICATION}`)
    db.exec(`PRAGMA user_version = ${number}`)
  })
}

function isOurs(db: Database): boolean {
  return db.row<[number]>('PRAGMA application_id')?.[0] === APPLICATION
}

function refusal(db: Database, file: string, version: number, known: number): AppError {
  if (!isOurs(db)) {
    return new AppError('STORE', `${file}: is a database that another program made; choose another data folder`)
  }
  const age = version > known ? 'a newer' : 'an older'
  return new AppError(
    'STORE',
    `${file}: was written by ${age} version of this program (format ${version}, this one reads format ${known}); ` +
      'run that version, or choose an empty data folder',
  )
}
