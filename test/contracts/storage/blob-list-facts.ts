/** Which paths there may be, and how they are listed. */
import { expect } from 'vitest'
import { blobFact, bytes, textAt, type BlobHost } from './blob-kit.ts'
import { expectCode, type Suite } from './medium.ts'

/** Paths that are hard on media which make them names of files. */
const ODD_PATHS = [
  'a',
  'A',
  'a/b',
  'a/b/c',
  'a-b',
  'a.b',
  'a b',
  ' a',
  'a.',
  '.a',
  '...',
  'CON',
  'nul.txt',
  'x~1',
  '%2e%2e',
  '%',
  'a%2fb',
  '..a/b',
  '~root',
  '-rf',
  '$HOME',
  'a\\b',
  'a:b',
  'a*?"<>|',
  'ä',
  'a\u0308',
  '～',
  '😀',
  '\n',
  '\u007f',
  '__proto__',
  'constructor',
  'x'.repeat(300),
  'y'.repeat(60),
  `${'y'.repeat(60)}/z`,
  'y'.repeat(61),
  `${'y'.repeat(60)}!`,
  `${'y'.repeat(60)}~`,
  `${'d/'.repeat(511)}d`,
  'é'.repeat(512),
  `${'y'.repeat(120)}/z`,
  `${'y'.repeat(119)}😀`,
]

export function definesLists(suite: Suite<BlobHost>): void {
  const fact = blobFact(suite)
  const paths = (list: readonly { readonly path: string }[]) => list.map((info) => info.path)
  const sorted = (list: readonly string[]) => [...list].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))

  fact('any path of 1 to 1,024 bytes is one object of its own, listed in byte order', async (blobs) => {
    for (const path of ODD_PATHS) await blobs.put(path, bytes(`at ${path}`))
    const expected = sorted(ODD_PATHS)
    expect(paths(await blobs.list({}))).toEqual(expected)
    for (const path of ODD_PATHS) expect(await textAt(blobs, path)).toBe(`at ${path}`)
    const walked: string[] = []
    for (let page = await blobs.list({ limit: 5 }); page.length > 0;) {
      walked.push(...paths(page))
      page = await blobs.list({ limit: 5, after: page.at(-1)?.path ?? '' })
    }
    expect(walked).toEqual(expected)
    for (const prefix of [
      'a',
      'a/',
      'a/b',
      'y',
      'y'.repeat(60),
      'y'.repeat(70),
      'd/d/',
      '',
      'zz',
      '\ud83d\ude00',
      'x'.repeat(300),
    ]) {
      expect(paths(await blobs.list({ prefix }))).toEqual(expected.filter((path) => path.startsWith(prefix)))
    }
  })

  fact('a page begins after a path, there or not, within the prefix', async (blobs) => {
    for (const path of ['a/1', 'a/2', 'a/3', 'b/1']) await blobs.put(path, bytes('x'))
    expect(paths(await blobs.list({ prefix: 'a/', after: 'a/1' }))).toEqual(['a/2', 'a/3'])
    expect(paths(await blobs.list({ prefix: 'a/', after: 'a/1x', limit: 1 }))).toEqual(['a/2'])
    expect(paths(await blobs.list({ prefix: 'a/', after: 'a/3' }))).toEqual([])
    expect(paths(await blobs.list({ prefix: 'b', after: 'a' }))).toEqual(['b/1'])
    expect(paths(await blobs.list({ after: 'zzz' }))).toEqual([])
  })

  fact('a list has 1 to 1,000, and is as things are now', async (blobs) => {
    const all = Array.from({ length: 1_003 }, (_, i) => `o/${String(i).padStart(4, '0')}`)
    await Promise.all(all.map((path) => blobs.put(path, bytes(''))))
    expect(paths(await blobs.list({}))).toEqual(all.slice(0, 1_000))
    expect(paths(await blobs.list({ after: 'o/0999' }))).toEqual(all.slice(1_000))
    await blobs.delete('o/0001')
    await blobs.put('o/0000a', bytes(''))
    expect(paths(await blobs.list({ limit: 3 }))).toEqual(['o/0000', 'o/0000a', 'o/0002'])
    for (const limit of [0, -1, 1.5, Number.NaN])
      await expectCode(() => blobs.list({ limit }), 'VALIDATION', String(limit))
    await expectCode(() => blobs.list({ limit: 1_001 }), 'TOO_LARGE')
    await expectCode(() => blobs.list({ prefix: '\ud800' }), 'VALIDATION')
    await expectCode(() => blobs.list({ prefix: 'x'.repeat(1_025) }), 'TOO_LARGE')
  })
}
