/** Locks a data folder for one process; the system releases the lock whenever and however the process ends. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { AppError, messageOf } from '#kernel'

/** Returns a function that releases it. Throws `STORE` when the folder is unusable or already locked. */
export function lockFolder(folder: string): () => void {
  try {
    mkdirSync(folder, { recursive: true })
  } catch (error) {
    throw new AppError('STORE', `the data folder ${folder} cannot be created: ${messageOf(error)}`, { cause: error })
  }
  const file = join(folder, 'lock.db')
  let db: DatabaseSync | undefined
  try {
    db = new DatabaseSync(file, { timeout: 0 })
    db.exec('PRAGMA journal_mode = MEMORY')
    db.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    db?.close()
    const text = messageOf(error)
    const why = /locked|busy/i.test(text)
      ? 'is in use by another process, or by another store of this process; use one store per data folder'
      : `cannot be written: ${text}; allow this user to write there, or choose another folder`
    throw new AppError('STORE', `the data folder ${folder} ${why}`, { cause: error })
  }
  const held = db
  return () => {
    if (held.isOpen) held.close()
  }
}
