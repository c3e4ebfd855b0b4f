/** Tests that series are written with lower priority than everything else. */
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { expect, it } from 'vitest'
import { openMemoryBlobs } from '../../../src/storage/memory/memory-objects.ts'
import { openSqlite } from '../../../src/storage/sqlite/open-sqlite.ts'
import { temporaryFolder } from './sqlite-medium.ts'

it.runIf(process.platform === 'linux')('the thread that writes series yields to all others', async () => {
  const folder = temporaryFolder()
  const before = niceness()
  const usual = Math.max(...before)
  const storage = await openSqlite({ folder, blobs: openMemoryBlobs() })
  const now = niceness()
  expect(now.filter((one) => one === usual + 5)).toHaveLength(1)
  expect(now.filter((one) => one === usual).length).toBeGreaterThan(before.length)
  await storage.close()
  expect(Math.max(...niceness())).toBe(usual)
  rmSync(folder, { recursive: true })
})

/** Returns the niceness of each thread of this process */
function niceness(): readonly number[] {
  return readdirSync('/proc/self/task').map((thread) => {
    const fields = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    return Number(fields[16])
  })
}
