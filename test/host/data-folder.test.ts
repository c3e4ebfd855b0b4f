import { chmodSync, existsSync, mkdtempSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ofFullDisk, openDataFolder, spaceTrouble, spaceWarning, tokenKey } from '../../src/host/data-folder.ts'
import { testFolder } from '../support/test-folder.ts'

const root = testFolder()
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

describe('a data folder', () => {
  it('is created empty with its parent folders, only for its owner', () => {
    const path = join(root, 'a', 'b')
    openDataFolder(path)
    openDataFolder(path)
    expect([modeOf(path), readdirSync(path)]).toEqual(['700', []])
  })

  it.each([
    ['file', 'a file has that name'],
    [join('file', 'below'), 'a part of the path is a file'],
  ])('at %s is rejected with the reason', (name, reason) => {
    writeFileSync(join(root, 'file'), '')
    const path = join(root, name)
    expect(() => openDataFolder(path)).toThrow(
      expect.objectContaining({
        code: 'STORE',
        message: `The data folder ${path} cannot be used: ${reason}; set --data to another one`,
      }),
    )
  })
})

describe.runIf(existsSync('/proc/self'))('a data folder that cannot be created', () => {
  it('is rejected at once', () => {
    expect(() => openDataFolder('/proc/nothing/below')).toThrow(/folders cannot be created there/)
  })
})

describe('a data folder of another user', () => {
  it('is rejected with the reason', () => {
    const path = mkdtempSync(join(root, 'other-'))
    chmodSync(path, 0o500)
    chmodSync(root, 0o755)
    expect(() => withoutRights(() => openDataFolder(path))).toThrow(
      /cannot be used: this user is not allowed to write there/,
    )
  })
})

/** Runs `work` without root's rights, which would override file modes. */
function withoutRights(work: () => void): void {
  if (process.getuid?.() !== 0) return work()
  process.seteuid?.(65_534)
  try {
    work()
  } finally {
    process.seteuid?.(0)
  }
}

describe('the disk of a data folder', () => {
  const of = (free: number, blocks = 1000) => spaceTrouble('/data', () => ({ blocks, bavail: free, bsize: 1024 }))

  it('counts as full when almost no space is left, with a remedy', () => {
    expect(of(200)).toBe(
      'The disk of the data folder /data is full: 200 KiB are free, and 4096 KiB are required; free some space',
    )
    const warning = (free: number) => spaceWarning('/data', () => ({ blocks: 1000, bavail: free, bsize: 1_048_576 }))
    expect([warning(200), spaceWarning('/data', () => undefined)]).toEqual([undefined, undefined])
    expect(warning(199)).toContain('the disk of the data folder /data is 80 % full, 199 MiB are free')
    expect([of(4096), of(0, 0), spaceTrouble('/data', () => undefined)]).toEqual([undefined, undefined, undefined])
  })

  it('is named by what fails for it, however deep that lies', () => {
    const error = new Error('no start', { cause: new Error('database or disk is full') })
    expect(ofFullDisk(error, '/data')).toMatchObject({
      code: 'STORE',
      message: 'The data folder /data cannot be used: the disk is full; free some space, or set --data to another one',
    })
    const other = new Error('something else')
    expect(ofFullDisk(other, '/data')).toBe(other)
  })
})

describe('the key of tokens', () => {
  it('is created once, only for its owner, without leftovers', () => {
    const folder = mkdtempSync(join(root, 'key-'))
    const first = tokenKey(folder)
    expect(first).toHaveLength(32)
    expect(tokenKey(folder)).toEqual(first)
    expect(readdirSync(folder)).toEqual(['token.key'])
    expect(modeOf(join(folder, 'token.key'))).toBe('600')
    expect(tokenKey(mkdtempSync(join(root, 'key-')))).not.toEqual(first)
  })

  it('is reported if damaged, and not replaced', () => {
    const folder = mkdtempSync(join(root, 'key-'))
    writeFileSync(join(folder, 'token.key'), 'short')
    expect(() => tokenKey(folder)).toThrow(/token\.key is not a valid key; remove it/)
  })
})
