/** Tests the sizes of stored data. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { StoredBytes } from '../../src/host/stored-bytes.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'stored-bytes-'))
  folders.push(made)
  return made
}

describe('the bytes on disk', () => {
  it('are those of databases with their logs, and of objects measured every ten minutes', async () => {
    const data = folder()
    const blobs = join(data, 'blobs')
    mkdirSync(join(blobs, 'acme', 'a'), { recursive: true })
    const write = (name: string, bytes: number): void => writeFileSync(join(data, name), Buffer.alloc(bytes))
    write('state.db', 100)
    write('state.db-wal', 20)
    write('blobs/acme/a/one', 7)
    let now = 0
    const bytes = new StoredBytes({ data, blobs, hasDatabases: true, elapsed: () => now })
    expect(await bytes.read()).toEqual({ state: 120, series: 0 })
    await bytes.idle()
    write('blobs/two', 5)
    expect(await bytes.read()).toEqual({ state: 120, series: 0, objects: 7 })
    now = 600_000
    await bytes.read()
    await bytes.idle()
    expect(await bytes.read()).toMatchObject({ objects: 12 })
  })

  it('are those of objects only when a database server has the rest', async () => {
    const bytes = new StoredBytes({ data: folder(), blobs: '/nonexistent', hasDatabases: false, elapsed: () => 0 })
    await bytes.read()
    await bytes.idle()
    expect(await bytes.read()).toEqual({ objects: 0 })
  })
})
