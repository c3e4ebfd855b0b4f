// Holds OBJECT-1, OBJECT-2, OBJECT-3, OBJECT-7, TABLE-2
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { ObjectRecord } from '../../../src/services/objects/contract.ts'
import { openFiles } from '../../../src/storage/files/open-files.ts'
import { openSqlite } from '../../../src/storage/sqlite/open-sqlite.ts'
import { deferred } from '../../support/deferred.ts'
import { bytes, objectsWorld, otherwise, pathsIn, putAll, START, textOf } from './support.ts'
import { testFolder } from '../../support/test-folder.ts'

async function* broken(): AsyncIterable<Uint8Array> {
  yield bytes('half of')
  throw new Error('the sender hung up')
}

describe('an object', () => {
  it('is returned with its MD5, size, type, time and metadata', async () => {
    const { api } = await objectsWorld()
    const record = await api.put('assets', '/a/b.txt', bytes('abc'), {
      contentType: 'text/plain',
      metadata: { owner: 'x' },
    })
    expect(record).toMatchObject({
      bucket: 'assets',
      path: 'a/b.txt',
      etag: '900150983cd24fb0d6963f7d28e17f72',
      size: 3,
      contentType: 'text/plain',
      modified: START,
      metadata: { owner: 'x' },
    })
    expect(await api.stat('assets', 'a/b.txt')).toEqual(record)
    expect(await textOf(await api.read(record))).toBe('abc')
    expect(await textOf(await api.read(record, { from: 1 }))).toBe('bc')
    expect(await api.put('assets', 'plain', bytes(''))).toMatchObject({ contentType: 'binary/octet-stream', size: 0 })
  })

  it('is replaced as a whole, and its former content is deleted', async () => {
    const { api, contents, service } = await objectsWorld()
    const first = await api.put('assets', 'x', bytes('first'))
    const second = await api.put('assets', 'x', bytes('second'))
    expect(await textOf(await api.read(second))).toBe('second')
    await service.stop()
    expect(await contents()).toEqual([second.content])
    expect(first.content).not.toBe(second.content)
  })

  it('stays readable while it is open, and is a conflict afterwards', async () => {
    const { api, service } = await objectsWorld()
    const record = await api.put('assets', 'x', bytes('first'))
    const open = await api.read(record)
    await api.remove('assets', 'x')
    await service.stop()
    expect(await textOf(open)).toBe('first')
    await expect(api.read(record)).rejects.toMatchObject({ code: 'CONFLICT' })
  })

  it('whose upload breaks off leaves the previous object, and no content', async () => {
    const { api, contents, service } = await objectsWorld()
    const before = await api.put('assets', 'x', bytes('before'))
    await expect(api.put('assets', 'x', broken())).rejects.toThrow(/hung up/)
    await expect(api.put('assets', 'new', broken())).rejects.toThrow(/hung up/)
    expect(await api.stat('assets', 'x')).toEqual(before)
    expect(await pathsIn(api, 'assets')).toEqual(['x'])
    await service.stop()
    expect(await contents()).toEqual([before.content])
  })

  it('is written only if its expected version is stored', async () => {
    const { api } = await objectsWorld()
    const tries = await Promise.allSettled(
      Array.from({ length: 8 }, (_, i) => api.put('assets', 'y', bytes(`${i}`), { expect: { noneMatch: ['*'] } })),
    )
    expect(tries.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  it('accepts only as many bytes as were declared', async () => {
    const { api } = await objectsWorld()
    const put = (length: object) => api.put('assets', 'x', bytes('12345'), { length })
    await expect(put({ max: 4 })).rejects.toMatchObject({ code: 'TOO_LARGE' })
    await expect(put({ min: 6 })).rejects.toMatchObject({ code: 'VALIDATION' })
    await expect(api.stat('assets', 'x')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await put({ min: 5, max: 5 })).toMatchObject({ size: 5 })
  })

  it('is distinguished by case and by Unicode form', async () => {
    const { api } = await objectsWorld()
    const names = ['ä', 'a\u0308', 'Ä', 'x', 'X', '😀', 'a b', '%2F', '\'"<&>']
    await putAll(api, 'assets', ...names)
    expect(await pathsIn(api, 'assets')).toEqual(
      [...names].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    )
    for (const name of names) {
      expect(await textOf(await api.read((await api.stat('assets', name)) as ObjectRecord))).toBe(name)
    }
  })

  it.each([
    ['../x', 'a part ".."'],
    ['a/../b', 'a part ".."'],
    ['a/./b', 'a part "."'],
    ['a//b', 'two slashes'],
    ['a\0b', 'control character'],
    ['a\nb', 'control character'],
    ['\ud800', 'surrogate'],
    ['x'.repeat(1_025), '1025 bytes'],
    ['ü'.repeat(513), '1026 bytes'],
    ['', 'is empty'],
    ['///', 'is empty'],
    ['a/', 'is the path of a folder'],
  ])('is rejected with the path %j', async (path, text) => {
    const { api } = await objectsWorld()
    const failure: unknown = await api.put('assets', path, bytes('x')).catch((error: unknown) => error)
    expect(failure).toMatchObject({ code: 'VALIDATION', message: expect.stringContaining(text) as string })
    expect(await pathsIn(api, 'assets')).toEqual([])
  })

  it('may have a path of 1,024 bytes', async () => {
    const { api } = await objectsWorld()
    const path = `${'a/'.repeat(511)}ü`
    await api.put('assets', path, bytes('x'))
    expect(await api.stat('assets', path)).toMatchObject({ path })
    expect(await api.remove('assets', 'a/', { recursive: true })).toMatchObject({ count: 1 })
    await expect(api.stat('assets', 'a/')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('is invisible to other tenants', async () => {
    const { api, storage } = await objectsWorld()
    const record = await api.put('assets', 'x', bytes('mine'))
    const { api: other } = await objectsWorld({ storage, tenant: 'other' })
    await expect(other.stat('assets', 'x')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(other.read(record)).rejects.toMatchObject({ code: 'CONFLICT' })
    await expect(other.bucket('reflexarc-ws-assets-acme')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await pathsIn(other, 'assets')).toEqual([])
  })
})

// Holds OBJECT-6
describe('a large content', () => {
  it('is streamed piece by piece, in both directions', async () => {
    const ahead: number[] = []
    let asked = 0
    let taken = 0
    async function* pieces(): AsyncIterable<Uint8Array> {
      for (; asked < 100;) {
        asked += 1
        yield new Uint8Array(1_000)
      }
    }
    const { api } = await objectsWorld({
      contents: (own) =>
        otherwise(own, {
          put: async (_id, content) => {
            for await (const piece of content) {
              taken += piece.length / 1_000
              ahead.push(asked - taken)
            }
            return { size: taken * 1_000, etag: '0'.repeat(32) }
          },
          open: async () => pieces(),
        }),
    })
    const record = await api.put('assets', 'x', pieces())
    expect([record.size, Math.max(...ahead)]).toEqual([100_000, 0])
    asked = 0
    taken = 0
    for await (const _piece of await api.read(record)) {
      taken += 1
      ahead.push(asked - taken)
    }
    expect([taken, Math.max(...ahead)]).toEqual([100, 0])
  })
})

describe('a copy', () => {
  it('has a content of its own; a move keeps the content', async () => {
    const { api, contents, service } = await objectsWorld()
    const source = await api.put('assets', 'in/a.txt', bytes('abc'), { contentType: 'text/plain' })
    const copy = await api.copy('assets', 'out/b.txt', 'in/a.txt')
    expect(copy).toMatchObject({ path: 'out/b.txt', etag: source.etag, contentType: 'text/plain' })
    expect(copy.content).not.toBe(source.content)
    const moved = await api.copy('assets', 'out/c.txt', 'in/a.txt', { move: true })
    expect(moved.content).toBe(source.content)
    expect(await pathsIn(api, 'assets')).toEqual(['out/b.txt', 'out/c.txt'])
    await expect(api.stat('assets', 'in/')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await api.remove('assets', 'out/b.txt')
    expect(await textOf(await api.read(moved))).toBe('abc')
    await service.stop()
    expect(await contents()).toEqual([moved.content])
  })

  it('onto another object replaces it, onto itself changes nothing, and of an unknown object is not found', async () => {
    const { api, changes } = await objectsWorld()
    await putAll(api, 'assets', 'a', 'b')
    const b = await api.copy('assets', 'b', 'a', { move: true })
    expect(await textOf(await api.read(b))).toBe('a')
    expect(await api.copy('assets', 'b', 'b', { move: true })).toEqual(b)
    await expect(api.copy('assets', 'c', 'a')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect((await changes()).slice(2).map(({ event, object }) => [event, object.path])).toEqual([
      ['put', 'b'],
      ['delete', 'a'],
    ])
  })
})

describe('changes', () => {
  it('are recorded in order, without gaps, with the objects before and after', async () => {
    const { api, changes, service } = await objectsWorld()
    let notified = 0
    const end = service.onChanges(() => (notified += 1))
    const a = await api.put('assets', 'd/a', bytes('1'))
    await api.putFolder('assets', 'e')
    await api.remove('assets', 'd/', { recursive: true })
    expect(await changes()).toMatchObject([
      { position: 1, event: 'put', object: a, time: START },
      { position: 2, event: 'put', object: { path: 'e/.folder' } },
      { position: 3, event: 'delete', object: a },
    ])
    end()
    await api.put('assets', 'f', bytes('2'))
    expect(notified).toBe(3)
    await service.changes.trim(2)
    expect(await service.changes.bounds()).toEqual({ first: 3, last: 4 })
    expect(await changes()).toHaveLength(2)
  })

  it('of a rule are committed once per effect, and rejected when they are late', async () => {
    const { api, changes } = await objectsWorld()
    const cause = (input: number) => ({ task: 't', node: 'n', effect: `t/1/${input}/0`, hops: 1, root: 'r' })
    await api.put('assets', 'x', bytes('two'), { cause: cause(2) })
    const again = await api.put('assets', 'x', bytes('two, again'), { cause: cause(2) })
    expect(await textOf(await api.read(again))).toBe('two')
    await expect(api.put('assets', 'x', bytes('one'), { cause: cause(1) })).rejects.toMatchObject({
      code: 'SUPERSEDED',
    })
    expect(await changes()).toMatchObject([{ position: 1, cause: { hops: 1, root: 'r' } }])
    // also after the object was removed
    await api.remove('assets', 'x')
    await api.put('assets', 'x', bytes('two, again'), { cause: cause(2) })
    await expect(api.stat('assets', 'x')).rejects.toMatchObject({ code: 'NOT_FOUND' })
    expect(await changes()).toMatchObject([{ event: 'put' }, { event: 'delete' }])
  })
})

describe('orphaned contents', () => {
  it('are kept while the content store is unavailable, and deleted afterwards', async () => {
    let isAway = true
    const { api, contents, service, waiting, warnings } = await objectsWorld({
      contents: (own) =>
        otherwise(own, {
          remove: (id) => (isAway ? Promise.reject(new Error('away')) : own.remove(id)),
        }),
    })
    await api.put('assets', 'x', bytes('first'))
    const second = await api.put('assets', 'x', bytes('second'))
    await service.settled()
    expect(await contents()).toHaveLength(2)
    expect(warnings).toEqual([expect.stringContaining('away')])
    isAway = false
    waiting[0]?.()
    await service.settled()
    expect(await contents()).toEqual([second.content])
  })

  it('of an earlier session are deleted at the next start, and contents of objects are kept', async () => {
    const folder = testFolder(onTestFinished)
    const open = async () => openSqlite({ folder, blobs: await openFiles({ folder: join(folder, 'blobs') }) })
    const storage = await open()
    const placed = deferred()
    const first = await objectsWorld({
      storage,
      contents: (own) =>
        otherwise(own, {
          // stores the content and then stops, as if the host were killed
          put: async (...rest) => {
            const stored = await own.put(...rest)
            if (stored.size !== 4) return stored
            placed.resolve()
            return new Promise(() => undefined)
          },
        }),
    })
    const kept = await first.api.put('assets', 'y', bytes('it is kept'))
    void first.api.put('assets', 'x', bytes('lost'))
    await placed.promise
    expect(await first.contents()).toHaveLength(2)
    await storage.close()
    const second = await objectsWorld({ storage: await open() })
    await second.service.settled()
    expect(await second.contents()).toEqual([kept.content])
    expect(await pathsIn(second.api, 'assets')).toEqual(['y'])
    await second.storage.close()
  })
})
