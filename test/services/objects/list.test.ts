import { describe, expect, it } from 'vitest'
import fc from 'fast-check'
import type { ListOptions, ObjectsApi } from '../../../src/services/objects/contract.ts'
import { objectsWorld, putAll } from './support.ts'

const names = async (api: ObjectsApi, prefix: string, options?: ListOptions) =>
  (await api.list('assets', prefix, options)).entries.map(({ path }) => path)

describe('a list', () => {
  it('ignores slashes around its prefix', async () => {
    const { api } = await objectsWorld()
    await putAll(api, 'assets', 'a', 'a.txt', 'a/b', 'a/c/d')
    expect(await names(api, '')).toEqual(['a', 'a.txt', 'a/'])
    expect(await names(api, '/a//')).toEqual(['a/b', 'a/c/'])
  })

  it('resumes after a path, in pages of 200 by default and of 1,000 at most', async () => {
    const { api } = await objectsWorld()
    const all = Array.from({ length: 1_205 }, (_, i) => `f${String(i).padStart(4, '0')}`)
    await Promise.all(all.map((name) => api.put('assets', name, new Uint8Array())))
    expect(await names(api, '')).toHaveLength(200)
    const first = await api.list('assets', '', { maxKeys: 5_000 })
    expect([first.entries.length, first.next]).toEqual([1_000, 'f0999'])
    const second = await api.list('assets', '', { maxKeys: 1_000, startAfter: first.next ?? '' })
    expect([second.entries[0]?.path, second.entries.length, second.next]).toEqual(['f1000', 205, undefined])
    expect((await api.list('assets', '', { maxKeys: 1_205 })).next).toBeDefined()
  })

  it('skips any number of hidden objects', async () => {
    const { api } = await objectsWorld()
    const hidden = Array.from({ length: 120 }, (_, i) => `.${i}`)
    await Promise.all(hidden.map((name) => api.put('assets', name, new Uint8Array())))
    await putAll(api, 'assets', 'x')
    const seen: string[] = []
    let startAfter = ''
    for (let pages = 0; pages < 10; pages++) {
      const { entries, next } = await api.list('assets', '', { maxKeys: 2, startAfter })
      seen.push(...entries.map(({ path }) => path))
      if (next === undefined) break
      startAfter = next
    }
    expect(seen).toEqual(['x'])
  })

  it('is equal in pages and as a whole, for all paths, prefixes and page sizes', async () => {
    const part = fc.constantFrom('a', 'b', 'ab', '.h', 'é', '😀', '\uffff', 'a b')
    const path = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'))
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(path, { minLength: 1, maxLength: 20 }),
        fc.constantFrom('', 'a', 'a/', 'a/b', '\uffff'),
        fc.integer({ min: 1, max: 4 }),
        fc.boolean(),
        fc.boolean(),
        async (paths, prefix, maxKeys, recursive, all) => {
          const { api } = await objectsWorld()
          await putAll(api, 'assets', ...paths)
          const pages: string[] = []
          for (let next: string | undefined = ''; next !== undefined;) {
            const page: Awaited<ReturnType<ObjectsApi['list']>> = await api.list('assets', prefix, {
              maxKeys,
              recursive,
              all,
              startAfter: next,
            })
            pages.push(...page.entries.map((entry) => entry.path))
            next = page.next
          }
          expect(pages).toEqual(expected(paths, prefix, recursive, all))
        },
      ),
      { numRuns: 60 },
    )
  })
})

/** Computes the same list by hand. */
function expected(paths: readonly string[], prefix: string, recursive: boolean, all: boolean): readonly string[] {
  const folder = prefix.slice(0, prefix.lastIndexOf('/') + 1)
  const shown = paths
    .filter((path) => path.startsWith(prefix))
    .map((path) => {
      const slash = path.indexOf('/', folder.length)
      return recursive || slash < 0 ? path : path.slice(0, slash + 1)
    })
  const isHidden = (path: string) => path.replace(/\/$/, '').split('/').at(-1)?.startsWith('.') === true
  return [...new Set(shown)]
    .filter((path) => all || !isHidden(path))
    .sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)))
}
