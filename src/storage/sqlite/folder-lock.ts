/** One process at a time on a data folder. The lock dies with its process, so nothing has to be cleaned up after a crash. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { AppError, messageOf } from '#kernel'

/** Makes the folder when there is none. `STORE` when it cannot be used or somebody has it; else what lets go of it. */
export function lockFolder(folder: string): () => void {
  try {
    mkdirSync(folder, { recursive: true })
  } catch (error) {
    throw new AppError('STORE', `the data folder ${folder} cannot be made: ${messageOf(error)}`, { cause: error })
  }
  const file = join(folder, 'lock.db')
  let db: DatabaseSync | undefined
  try {
    // The database engine's own file lock: the operating system takes it back when the process ends, however it ends.
    db = new DatabaseSync(file, { timeout: 0 })
    db.exec('PRAGMA journal_mode = MEMORY')
    db.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    db?.close()
    const text = messageOf(error)
    const why = /locked|busy/i.test(text)
      ? 'is in use by another process or another store of this one; a data folder serves one at a time'
      : `cannot be written: ${text}; give this user the right to write there, or choose another folder`
    throw new AppError('STORE', `the data folder ${folder} ${why}`, { cause: error })
  }
  const held = db
  return () => {
    if (held.isOpen) held.close()
  }
}
