/**
 * Conformance of documents. `describeCollection(name, medium)` runs everything: documents, queries, opening again, and
 * random histories against a model.
 */
import { expect } from 'vitest'
import type { Storage } from '../../../src/storage/contract.ts'
import { definesRefusals } from './document-refusals.ts'
import { definesHistories } from './collection-histories.ts'
import { definesOpening } from './opening-facts.ts'
import { definesQueries } from './query-facts.ts'
import { describeMedium, expectCode, failureOf, storeFact, type Medium, type Suite } from './medium.ts'
import { COUNTERS, THINGS, withSamples } from './things.ts'

export function describeCollection(name: string, medium: Medium): void {
  describeMedium(`collections on ${name}`, medium, (suite) => {
    definesDocuments(suite)
    definesRefusals(suite)
    definesOpening(suite)
  })
  describeMedium(`queries on ${name}`, medium, definesQueries)
  describeMedium(`random histories of a collection on ${name}`, medium, definesHistories)
}

/** 1 MiB less what `{"extra":""}` takes */
const ROOM = 1_048_576 - 12

function definesDocuments(suite: Suite<Storage>): void {
  const fact = storeFact(suite)

  fact('a document comes back as it was put, with its version', async ({ things }) => {
    const extra = { deep: [{ a: null, b: [true, false, 1.5, 'text'] }], '': 0, '😀': '\u0000\ud800"\\\n', big: 2 ** 60 }
    expect(await things.put('x', { name: 'one', extra })).toBe(1)
    expect(await things.get('x')).toEqual({ id: 'x', version: 1, value: { name: 'one', extra } })
    expect(await things.put('x', { name: 'two' })).toBe(2)
    expect(await things.get('x')).toEqual({ id: 'x', version: 2, value: { name: 'two' } })
  })

  fact('the order of keys is kept', async ({ things }) => {
    await things.put('x', { extra: { b: 1, a: 2, aa: 3, '10': 4 } })
    expect(JSON.stringify((await things.get('x'))?.value.extra)).toBe(JSON.stringify({ b: 1, a: 2, aa: 3, '10': 4 }))
  })

  fact('numbers come back exactly; a minus zero is zero, as JSON writes it', async ({ things }) => {
    const numbers = [0, 2 ** 53, 2 ** 53 + 2, -(2 ** 63), 2 ** 80, 1e308, 5e-324, 0.1 + 0.2, -1.5]
    await things.put('x', { extra: [...numbers, -0] })
    expect((await things.get('x'))?.value.extra).toStrictEqual([...numbers, 0])
  })

  fact('members that are undefined are left out', async ({ things }) => {
    await things.put('x', { name: undefined, size: 1 })
    expect(Object.keys((await things.get('x'))?.value ?? {})).toEqual(['size'])
  })

  fact('is copied on the way in, at the call, and on the way out', async ({ things }) => {
    const tags = ['before']
    const putting = things.put('x', { tags })
    tags[0] = 'after'
    await putting
    const first = await things.get('x')
    expect(first?.value).toEqual({ tags: ['before'] })
    Object.assign(first?.value ?? {}, { tags: ['changed'] })
    expect((await things.get('x'))?.value).toEqual({ tags: ['before'] })
    expect(await things.ids({ where: [{ field: 'tags', op: 'eq', value: 'before' }] })).toEqual(['x'])
  })

  fact('an id is any text of 1 to 512 bytes', async ({ things }) => {
    const ids = [
      'a/b',
      '..',
      ' ',
      '__proto__',
      'constructor',
      "o'; drop table",
      '%',
      '😀',
      'Ä',
      'ä',
      'é'.repeat(256),
      '\n',
      '1',
      '01',
    ]
    await Promise.all(ids.map((id) => things.put(id, { name: id })))
    const values = await things.getMany(ids)
    expect(values.map((stored) => [stored.id, stored.value.name])).toEqual(ids.map((id) => [id, id]))
    expect(await things.count()).toBe(ids.length)
  })

  fact('getMany gives those that exist in the order asked, twice when asked twice', async ({ store }) => {
    const things = await withSamples(store)
    const ids = ['c', 'nobody', 'a', '', 'c']
    expect((await things.getMany(ids)).map((stored) => stored.id)).toEqual(['c', 'a', 'c'])
    expect(await things.getMany([])).toEqual([])
  })

  fact('getMany does so for a thousand', async ({ things }) => {
    const ids = Array.from({ length: 1000 }, (_, i) => `${(i * 7919) % 1000}"é`)
    const there = ids.filter((_, i) => i % 10 !== 0)
    await Promise.all(there.map((id) => things.put(id, { name: id })))
    const many = await things.getMany(ids)
    expect(many.map(({ id, version, value }) => [id, version, value.name])).toEqual(there.map((id) => [id, 1, id]))
    const twice = [there[3], there[1], there[3], ...there.slice(0, 100)].filter((id) => id !== undefined)
    expect((await things.getMany(twice)).map(({ id }) => id)).toEqual(twice)
  })

  fact('an id that cannot exist does not exist, and reading it is no error', async ({ things }) => {
    for (const id of ['', 'a\0b', '\ud800', 'x'.repeat(513)]) expect(await things.get(id)).toBeUndefined()
  })

  fact('STORE-2: a version never comes twice for an id, not even after a delete', async ({ things }) => {
    const seen: number[] = []
    for (let round = 0; round < 3; round += 1) {
      seen.push(await things.put('x', { size: round }, 'absent'), await things.put('x', { size: round }))
      await things.delete('x')
    }
    expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b))
    expect(seen[0]).toBe(1)
    for (const version of seen) await expectCode(() => things.put('x', {}, version), 'CONFLICT')
    expect(await things.put('other', {})).toBe(1)
  })

  fact('a CONFLICT names the document, what was expected and what is there', async ({ things }) => {
    await things.put('boiler-7', {})
    const failure = await failureOf(() => things.put('boiler-7', {}, 9))
    expect(failure.message).toContain('things/boiler-7')
    expect(failure.message).toContain('9')
    expect(failure.issues).toMatchObject([
      { path: '/0', type: 'CONFLICT', details: { collection: 'things', id: 'boiler-7', expected: 9, actual: 1 } },
    ])
  })

  fact('of many that create the same id at once one wins', async ({ things }) => {
    const tries = await Promise.allSettled(Array.from({ length: 20 }, (_, size) => things.put('x', { size }, 'absent')))
    expect(tries.filter((one) => one.status === 'fulfilled')).toHaveLength(1)
    const winner = tries.findIndex((one) => one.status === 'fulfilled')
    expect(await things.get('x')).toEqual({ id: 'x', version: 1, value: { size: winner } })
  })

  fact('no increment is lost among writers that read, add and expect the version that they read', async ({ store }) => {
    const counters = store.collection(COUNTERS)
    await counters.put('x', { count: 0 })
    const increment = async (): Promise<void> => {
      for (;;) {
        const stored = await counters.get('x')
        if (stored === undefined) throw new Error('the counter is gone')
        try {
          await counters.put('x', { count: stored.value.count + 1 }, stored.version)
          return
        } catch (thrown) {
          if ((await failureOf(() => Promise.reject(thrown))).code !== 'CONFLICT') throw thrown
        }
      }
    }
    const writer = async () => {
      for (let i = 0; i < 5; i += 1) await increment()
    }
    await Promise.all(Array.from({ length: 8 }, writer))
    expect(await counters.get('x')).toEqual({ id: 'x', version: 41, value: { count: 40 } })
  })

  fact('two collections of a store do not meet', async ({ store }) => {
    await store.collection(THINGS).put('x', { size: 1 })
    expect(await store.collection(COUNTERS).get('x')).toBeUndefined()
    expect(await store.collection(COUNTERS).count()).toBe(0)
    expect(await store.collection(COUNTERS).put('x', { count: 5 })).toBe(1)
    expect(await store.collection(THINGS).get('x')).toMatchObject({ value: { size: 1 } })
  })

  suite.fact('two tenants do not meet, in nothing', async ({ storage, tenant }) => {
    const [one, two] = [storage.tenant(`${tenant}.A`), storage.tenant(`${tenant}.a`)]
    await withSamples(one)
    const things = two.collection(THINGS)
    expect(await things.get('a')).toBeUndefined()
    expect(await things.getMany(['a', 'b'])).toEqual([])
    expect(await things.find({})).toEqual([])
    expect(await things.find({ where: [{ field: 'tags', op: 'eq', value: 'hot' }] })).toEqual([])
    expect(await things.count()).toBe(0)
    expect(await things.countBy('status')).toEqual(new Map())
    expect(await things.delete('a')).toBe(false)
    expect(await things.put('a', { tags: ['hot'] }, 'absent')).toBe(1)
    expect(await one.collection(THINGS).get('a')).toMatchObject({ value: { name: 'Boiler' } })
    expect(await one.collection(THINGS).count([{ field: 'tags', op: 'eq', value: 'hot' }])).toBe(2)
  })

  fact('a document of 1 MiB as JSON in UTF-8 is taken, one byte more is TOO_LARGE', async ({ things }) => {
    await things.put('x', { extra: 'x'.repeat(ROOM) })
    expect((await things.get('x'))?.value.extra).toBe('x'.repeat(ROOM))
    await expectCode(() => things.put('y', { extra: 'x'.repeat(ROOM + 1) }), 'TOO_LARGE')
    await expectCode(() => things.put('y', { extra: 'é'.repeat(ROOM / 2 + 1) }), 'TOO_LARGE')
    expect(await things.get('y')).toBeUndefined()
  })
}
