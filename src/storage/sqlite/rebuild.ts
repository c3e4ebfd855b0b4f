/** Rebuilds a damaged database file from its intact records; must not run while a host uses the folder. */
import { existsSync, linkSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { documentsSql } from './collection-form.ts'
import { openReader, openWriter, type Database, type SqlValue } from './database.ts'
import { type FileName, formOfFile, type Row, scanTable, tablesOf } from './examine.ts'
import { openForm, requireForm } from './file-form.ts'

const AT_ONCE = 5_000

/** `aside`: folder for the damaged file, which stays in place when nothing can be read. */
export function rebuildFile(path: string, file: FileName, aside: string): void {
  const draft = `${path}.new`
  for (const end of ['', '-wal', '-shm']) rmSync(`${draft}${end}`, { force: true })
  const from = openReader(path, 64)
  try {
    // throws when the tables are unreadable, since then nothing would be found
    requireForm(from, path, formOfFile(file))
    from.row('SELECT count(*) FROM sqlite_schema')
    const to = openWriter(draft, { synchronous: 'FULL', cacheMb: 64, checkpointPages: 1_000 })
    try {
      openForm(to, draft, formOfFile(file))
      copyIntactRows(from, to, file)
      to.exec('PRAGMA wal_checkpoint(TRUNCATE)')
    } finally {
      to.close()
    }
  } finally {
    from.close()
  }
  mkdirSync(aside, { recursive: true, mode: 0o700 })
  linkSync(path, join(aside, basename(path)))
  // moved as well: the copy already contains their content, and beside the new file they would be taken for its own
  for (const end of ['-wal', '-shm']) {
    if (existsSync(`${path}${end}`)) renameSync(`${path}${end}`, join(aside, `${basename(path)}${end}`))
  }
  renameSync(draft, path)
}

function copyIntactRows(from: Database, to: Database, file: FileName): void {
  for (const table of tablesOf(from, file)) {
    const { name } = table
    if (name.startsWith('c_')) to.exec(documentsSql(name))
    let rows: Row[] = []
    const write = (): void => {
      to.transaction(() => {
        for (const row of rows) insert(to, name, row)
      })
      rows = []
    }
    for (const { row, isWhole } of scanTable(from, table, () => undefined)) {
      if (isWhole) rows.push(row)
      else if (name === 'entries') keepPosition(to, row)
      if (rows.length >= AT_ONCE) write()
    }
    write()
  }
  // field tables are created from documents on first use
  if (file === 'state.db') to.run('UPDATE collections SET filled = 0')
}

/** Inserts a row. If it exists, it was already read from the other end of the table. */
function insert(to: Database, table: string, row: Row): void {
  const columns = [...row.keys()]
  const values: SqlValue[] = [...row.values()]
  to.run(
    `INSERT OR IGNORE INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
    ...values,
  )
}

/** Keeps the last position of a log, so that positions are never reused even when the newest entries are lost. */
function keepPosition(to: Database, row: Row): void {
  const [last = null, log = null] = [row.get('last'), row.get('log')]
  const known = Number.isSafeInteger(Number(last)) && last !== null
  if (known) to.run('UPDATE logs SET last = max(last, ?) WHERE key = ?', Number(last), Number(log))
}
