import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { packTar, type TarEntry } from 'modern-tar'
import { describe, expect, it } from 'vitest'
import {
  MAX_ASSETS,
  MAX_BYTES,
  pathProblem,
  readArchive,
  writeArchive,
} from '../../../src/services/functions/registry/archive.ts'

function fileOf(name: string, text = 'x'): TarEntry {
  return { header: { name, size: text.length, type: 'file' }, body: text }
}

async function textsOf(archive: Uint8Array): Promise<Readonly<Record<string, string>>> {
  const assets = await readArchive(archive)
  return Object.fromEntries([...assets].map(([path, content]) => [path, new TextDecoder().decode(content)]))
}

describe('an archive', () => {
  it('is read with folders, compressed or not, and the later of two files wins', async () => {
    const entries = [
      { header: { name: './', size: 0, type: 'directory' as const } },
      fileOf('./plug.json', '{}'),
      { header: { name: 'lib/', size: 0, type: 'directory' as const } },
      fileOf('lib/a b.js', 'one'),
      fileOf('lib/a b.js', 'two'),
      fileOf('empty', ''),
    ]
    const tar = await packTar(entries)
    const expected = { 'plug.json': '{}', 'lib/a b.js': 'two', empty: '' }
    expect(await textsOf(tar)).toEqual(expected)
    expect(await textsOf(gzipSync(tar))).toEqual(expected)
  })

  it('survives a round trip', async () => {
    const path = fc.stringMatching(/^[a-z][a-z0-9._-]{0,20}(\/[a-z]{1,10}){0,3}$/)
    const assets = fc.array(fc.tuple(path, fc.uint8Array({ maxLength: 2_000 })), { minLength: 1, maxLength: 10 })
    await fc.assert(
      fc.asyncProperty(assets, async (pairs) => {
        const map = new Map(pairs)
        const read = await readArchive(await writeArchive(map))
        expect([...read].map(([name, bytes]) => [name, [...bytes]])).toEqual(
          [...map].map(([name, bytes]) => [name, [...bytes]]),
        )
      }),
    )
  })

  it.each<[string, TarEntry]>([
    ['a way up', fileOf('../plug.json')],
    ['a way up inside', fileOf('lib/../../x')],
    ['an absolute path', fileOf('/etc/passwd')],
    ['a name of a prototype', fileOf('__proto__/x')],
    ['a hidden file', fileOf('.npmrc')],
    ['installed packages', fileOf('node_modules/a/index.js')],
    ['a backslash', fileOf('lib\\x')],
    ['a path that is too long', fileOf(`${'a/'.repeat(150)}x`)],
    ['a link', { header: { name: 'x', size: 0, type: 'symlink', linkname: '/etc/passwd' } }],
    ['a hard link', { header: { name: 'x', size: 0, type: 'link', linkname: 'plug.json' } }],
    ['a device', { header: { name: 'x', size: 0, type: 'character-device' } }],
    ['a pipe', { header: { name: 'x', size: 0, type: 'fifo' } }],
  ])('with %s is rejected', async (_, entry) => {
    const archive = await packTar([fileOf('plug.json'), entry])
    await expect(readArchive(archive)).rejects.toMatchObject({ code: 'VALIDATION' })
  })

  const tar = (): Promise<Uint8Array> => packTar([fileOf('a', 'x'.repeat(2_000))])
  it.each<[string, () => Promise<Uint8Array> | Uint8Array, RegExp, string?]>([
    ['without files', () => packTar([]), /has no files/],
    ['that is not an archive', () => new TextEncoder().encode('hello'.repeat(1_000)), /cannot be read/],
    ['that is cut off', async () => (await tar()).subarray(0, 1_000), /cannot be read/],
    [
      'with too many files',
      () => packTar(Array.from({ length: MAX_ASSETS + 1 }, (_, i) => fileOf(`f${i}`, ''))),
      /more than 1000 assets/,
      'TOO_LARGE',
    ],
    [
      'that is a bomb',
      async () => gzipSync(await packTar([fileOf('a', 'x'.repeat(MAX_BYTES + 1))])),
      /larger than/,
      'TOO_LARGE',
    ],
    [
      'whose gzip is cut off',
      async () => gzipSync(await tar()).subarray(0, 60),
      /the gzip .* is damaged: unexpected end/,
    ],
    [
      'whose gzip is overwritten',
      async () => gzipSync(await tar()).fill(7, 12, 40),
      /the gzip .* is damaged: (?:invalid|incorrect|unknown)/,
    ],
    ['of bzip2', () => Buffer.from('BZh91AY&SY'), /compressed with bzip2; send a tar/],
    ['of xz', () => Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0, 0]), /compressed with xz; send a tar/],
    ['of zstd', () => Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0]), /compressed with zstd; send a tar/],
    ['of zip', () => Buffer.from('PK\u0003\u0004'), /compressed with zip; send a tar/],
  ])('%s is rejected, and the format is named', async (_what, make, text, code = 'VALIDATION') => {
    const message = expect.stringMatching(text) as string
    await expect(readArchive(await make())).rejects.toMatchObject({ code, message })
  })
})

it.each([
  ['index.js', true],
  ['lib/deep/er/x.py', true],
  ['a@1+b-c_d.txt', true],
  ['', false],
  ['a//b', false],
  ['a/', false],
  ['a ', false],
  ['pip.conf', false],
])('the path %j is valid: %s', (path, isGood) => {
  expect(pathProblem(path) === undefined).toBe(isGood)
})
