import { describe, expect, it } from 'vitest'
import { unpackTar } from 'modern-tar'
import { tarOf } from '../../../../../src/services/shared/http/client/tar.ts'

async function unpacked(files: ReadonlyMap<string, Uint8Array>): Promise<readonly (readonly [string, string])[]> {
  const entries = await unpackTar(tarOf(files))
  return entries.map(({ header, data }) => [header.name, Buffer.from(data ?? []).toString('latin1')])
}

describe('a tar of the client', () => {
  it.each<[string, Record<string, string>]>([
    ['nothing', {}],
    ['an empty file', { 'a.txt': '' }],
    ['files of whole blocks and of some bytes more', { a: 'x'.repeat(512), b: 'y'.repeat(513), c: 'z' }],
    ['a path in folders', { 'lib/deep/a.js': 'export {}' }],
    ['a long path', { [`${'folder/'.repeat(20)}${'n'.repeat(90)}.js`]: 'long' }],
    ['letters beyond ASCII', { 'maß/größe.txt': 'Ü' }],
  ])('contains %s', async (_, files) => {
    const bytes = new Map(Object.entries(files).map(([path, text]) => [path, Buffer.from(text, 'latin1')]))
    expect(await unpacked(bytes)).toEqual(Object.entries(files))
  })

  it('is rejected for a path that it cannot contain', () => {
    expect(() => tarOf(new Map([['n'.repeat(101), new Uint8Array()]]))).toThrow(/too long for a path in an archive/)
  })
})
