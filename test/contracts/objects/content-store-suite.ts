/** Conformance of stores of contents: the same facts for a folder of the host and for a bucket of S3. */
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ContentStore } from '../../../src/services/objects/contract.ts'

export interface OpenedStore {
  readonly of: (tenant: string) => ContentStore
  close(): Promise<void>
}

const TYPE = { contentType: 'text/plain' }
const md5 = (content: Uint8Array) => createHash('md5').update(content).digest('hex')
/** more than two parts of a store that keeps large contents in parts, in which neighbouring bytes differ */
const LARGE = Buffer.alloc(17_000_000).map((_, i) => (i * 31 + (i >> 8)) & 255)

async function* piecesOf(content: Uint8Array, size = 65_536): AsyncIterable<Uint8Array> {
  for (let at = 0; at < content.length; at += size) yield content.subarray(at, at + size)
}

async function* broken(content: Uint8Array): AsyncIterable<Uint8Array> {
  yield* piecesOf(content)
  throw new Error('the sender hung up')
}

async function whole(content: AsyncIterable<Uint8Array> | undefined): Promise<Buffer | undefined> {
  if (content === undefined) return undefined
  const pieces: Uint8Array[] = []
  for await (const piece of content) pieces.push(piece)
  return Buffer.concat(pieces)
}

export function describeContentStore(name: string, open: () => Promise<OpenedStore>): void {
  describe(`contents in ${name}`, () => {
    let opened: OpenedStore
    let store: ContentStore
    beforeAll(async () => {
      opened = await open()
      store = opened.of('acme')
    })
    afterAll(() => opened.close())
    const put = (id: string, content: Uint8Array) => store.put(id, piecesOf(content), TYPE)
    const read = async (id: string, range?: { from: number; until?: number }, from = store) =>
      (await whole(await from.open(id, range)))?.toString()

    it('come back whole, with their size and MD5', async () => {
      const content = Buffer.from('hällo')
      expect(await put('small', content)).toEqual({ size: 6, etag: md5(content) })
      expect(await read('small')).toBe('hällo')
      expect(await put('empty', new Uint8Array())).toEqual({ size: 0, etag: md5(new Uint8Array()) })
      expect(await read('empty')).toBe('')
    })

    it('come back whole and in parts when they are large', async () => {
      expect(await put('large', LARGE)).toEqual({ size: LARGE.length, etag: md5(LARGE) })
      expect(md5((await whole(await store.open('large'))) ?? Buffer.alloc(0))).toBe(md5(LARGE))
      for (const [from, until] of [
        [0, 0],
        [8_388_607, 8_388_609],
        [16_999_990, 16_999_999],
      ] as const) {
        const part = await whole(await store.open('large', { from, until }))
        expect(part?.equals(LARGE.subarray(from, until + 1))).toBe(true)
      }
    })

    it('are given in ranges, both ends included', async () => {
      await put('digits', Buffer.from('0123456789'))
      expect(await read('digits', { from: 2, until: 4 })).toBe('234')
      expect(await read('digits', { from: 7 })).toBe('789')
    })

    it('are not there before they are put, for another tenant, and when they are removed', async () => {
      expect(await read('none')).toBeUndefined()
      await put('mine', Buffer.from('x'))
      expect(await read('mine', undefined, opened.of('other'))).toBeUndefined()
      await store.remove('mine')
      await store.remove('mine')
      expect(await read('mine')).toBeUndefined()
    })

    it('are copied to contents of their own', async () => {
      await put('source', Buffer.from('abc'))
      expect([await store.copy('source', 'copy'), await store.copy('none', 'other')]).toEqual([true, false])
      await store.remove('source')
      expect([await read('copy'), await read('other')]).toEqual(['abc', undefined])
    })

    it.each([
      ['small', Buffer.from('half')],
      ['large', LARGE],
    ] as const)('that break off are not there: %s', async (id, content) => {
      await expect(store.put(`broken-${id}`, broken(content), TYPE)).rejects.toThrow('the sender hung up')
      await store.remove(`broken-${id}`)
      expect(await read(`broken-${id}`)).toBeUndefined()
    })

    it('need not be read to their end', async () => {
      await put('left', LARGE)
      const content = await store.open('left')
      for await (const piece of content ?? []) {
        expect(piece[0]).toBe(LARGE[0])
        break
      }
      await store.remove('left')
    })
  })
}
