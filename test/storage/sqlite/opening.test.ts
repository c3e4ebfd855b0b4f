/** Tests which data folders are valid, and the errors for others. */
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AppError } from '../../../src/kernel/errors.ts'
import { openMemoryBlobs } from '../../../src/storage/memory/memory-objects.ts'
import { openSqlite } from '../../../src/storage/sqlite/open-sqlite.ts'
import { failureOf } from '../../contracts/storage/medium.ts'
import { COUNTERS } from '../../contracts/storage/things.ts'
import { temporaryFolder } from './sqlite-medium.ts'

let base = ''
beforeAll(() => {
  base = temporaryFolder()
})
afterAll(() => rmSync(base, { recursive: true }))

const open = (folder: string) => openSqlite({ folder, blobs: openMemoryBlobs() })
const versionOf = (file: string): unknown => {
  const db = new DatabaseSync(file)
  const version = db.prepare('PRAGMA user_version').get()?.['user_version']
  db.close()
  return version
}
const change = (file: string, sql: string) => {
  const db = new DatabaseSync(file)
  db.exec(sql)
  db.close()
}
async function made(name: string): Promise<string> {
  const folder = join(base, name)
  const storage = await open(folder)
  await storage.tenant('acme').collection(COUNTERS).put('x', { count: 1 })
  await storage.close()
  return folder
}
async function refusal(folder: string): Promise<string> {
  const failure = await failureOf(() => open(folder))
  expect(failure).toBeInstanceOf(AppError)
  expect(failure.code).toBe('STORE')
  return failure.message
}

describe('a data folder', () => {
  it('is made with all above it, and holds two databases and no journals after closing', async () => {
    const folder = await made('a/b/c')
    for (const file of ['state.db', 'series.db']) {
      expect(existsSync(join(folder, file))).toBe(true)
      expect(existsSync(join(folder, `${file}-wal`))).toBe(false)
    }
  })

  it('is rejected while another store of this process has it, and free again when that is closed', async () => {
    const folder = join(base, 'twice')
    const first = await open(folder)
    expect(await refusal(folder)).toContain('in use')
    expect(await first.tenants()).toEqual([])
    await first.close()
    await (await open(folder)).close()
  })

  it('is rejected while another process has it, which continues unharmed', async () => {
    const folder = join(base, 'other-process')
    const storage = await open(folder)
    const other = `
      import { openMemoryBlobs } from ${JSON.stringify(join(import.meta.dirname, '../../../src/storage/memory/memory-objects.ts'))}
      import { openSqlite } from ${JSON.stringify(join(import.meta.dirname, '../../../src/storage/sqlite/open-sqlite.ts'))}
      await openSqlite({ folder: process.argv[1], blobs: openMemoryBlobs() }).catch((e) => console.log(e.code, e.message))`
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', other, folder], { encoding: 'utf8' })
    expect(stdout).toMatch(/^STORE the data folder .*other-process is in use by another process/)
    expect(await storage.tenant('acme').collection(COUNTERS).put('x', { count: 1 })).toBe(1)
    await storage.close()
  })

  it.each([
    ['state.db', 99, 'a newer'],
    ['state.db', 3, 'an older'],
    ['series.db', 99, 'a newer'],
    ['series.db', 4, 'an older'],
  ])('is rejected when another version wrote %s (format %d), which stays as it is', async (file, format, age) => {
    const folder = await made(`format-${format}-${file}`)
    const version = versionOf(join(folder, file))
    change(join(folder, file), `PRAGMA user_version = ${format}`)
    const before = readFileSync(join(folder, file))
    const said = `${file}: was written by ${age} version of this program (format ${format}, this one reads format `
    expect(await refusal(folder)).toContain(said)
    expect(readFileSync(join(folder, file)).equals(before)).toBe(true)
    change(join(folder, file), `PRAGMA user_version = ${String(version)}`)
    await (await open(folder)).close()
  })

  it.each(['state.db', 'series.db'])('is rejected when %s is of another program, or no database', async (file) => {
    const folder = join(base, `foreign-${file}`)
    mkdirSync(folder)
    change(join(folder, file), 'CREATE TABLE notes (text)')
    expect(await refusal(folder)).toContain('of another program')
    writeFileSync(join(folder, file), 'this is a text of more than a hundred bytes, '.repeat(50))
    expect(await refusal(folder)).toContain(file)
  })

  it('is rejected when there is a file of that name', async () => {
    const file = join(base, 'a-file')
    writeFileSync(file, '')
    expect(await refusal(file)).toContain(file)
    expect(await refusal(join(file, 'below'))).toContain(file)
  })

  it('is rejected without the right to write there', () => {
    const folder = join(base, 'no-rights')
    mkdirSync(folder)
    chmodSync(base, 0o755)
    chmodSync(folder, 0o555)
    const code = `
      import { openMemoryBlobs } from ${JSON.stringify(join(import.meta.dirname, '../../../src/storage/memory/memory-objects.ts'))}
      import { openSqlite } from ${JSON.stringify(join(import.meta.dirname, '../../../src/storage/sqlite/open-sqlite.ts'))}
      await openSqlite({ folder: process.argv[1], blobs: openMemoryBlobs() }).catch((e) => console.log(e.code, e.message))`
    // File modes do not restrict root, so the check runs as another user.
    const somebody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
    const options = { encoding: 'utf8', ...somebody } as const
    const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code, folder], options)
    expect(stdout, stderr).toMatch(
      /^STORE the data folder .*no-rights cannot be written: .*; allow this user to write there/,
    )
  })
})

describe('a program that forgets to close its store', () => {
  it('ends anyway, and what was answered is there', async () => {
    const folder = join(base, 'forgotten')
    const code = `
      import { openMemoryBlobs } from ${JSON.stringify(join(import.meta.dirname, '../../../src/storage/memory/memory-objects.ts'))}
      import { openSqlite } from ${JSON.stringify(join(import.meta.dirname, '../../../src/storage/sqlite/open-sqlite.ts'))}
      const storage = await openSqlite({ folder: process.argv[1], blobs: openMemoryBlobs() })
      console.log(await storage.tenant('acme').log('inputs').append(['a', 'b']))
      console.log((await storage.tenant('acme').log('inputs').read(0)).length)`
    const { stdout, status } = spawnSync(process.execPath, ['--input-type=module', '-e', code, folder], {
      encoding: 'utf8',
    })
    expect([status, stdout]).toEqual([0, '2\n2\n'])
    const storage = await open(folder)
    expect(await storage.tenant('acme').log('inputs').bounds()).toEqual({ first: 1, last: 2 })
    await storage.close()
  })
})
