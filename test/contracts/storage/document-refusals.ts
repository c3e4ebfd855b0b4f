/** Documents, ids, specifications and tenants that are refused: the code, and that nothing is written. */
import { expect } from 'vitest'
import type { CollectionSpec, Storage } from '../../../src/storage/contract.ts'
import { expectCode, failureOf, storeFact, type Suite } from './medium.ts'
import { THINGS, withSamples, type Thing } from './things.ts'

/** What no document may be; made late, because some of it cannot be written as a literal. */
const BAD_DOCUMENTS: readonly (readonly [string, () => unknown])[] = [
  ['a big integer', () => ({ extra: 1n })],
  ['a list as document', () => [1]],
  ['null as document', () => null],
  ['a text as document', () => 'text'],
  ['a field of the wrong type', () => ({ name: 5 })],
  ['a number field that is not finite', () => ({ size: Number.NaN })],
  ['a place that is none', () => ({ at: { lat: 91, lng: 0 } })],
  ['tags that are no texts', () => ({ tags: ['a', 1] })],
  ['a NUL in a field', () => ({ name: 'a\0b' })],
  ['half a surrogate pair in a field', () => ({ tags: ['\ud83d'] })],
]

export function definesRefusals(suite: Suite<Storage>): void {
  const fact = storeFact(suite)

  for (const [what, make] of BAD_DOCUMENTS) {
    fact(`${what} is VALIDATION, and nothing is written`, async ({ things }) => {
      await expectCode(() => things.put('x', make() as Thing), 'VALIDATION')
      expect(await things.get('x')).toBeUndefined()
    })
  }

  fact('all problems of a document come at once, each with its place', async ({ things }) => {
    const bad = { name: 5, size: 'big' } as unknown as Thing
    const { issues } = await failureOf(() => things.put('', bad))
    const paths = issues.map((issue) => issue.path)
    for (const path of ['/0/id', '/0/value']) expect(paths).toContain(path)
  })

  fact('ids that cannot be stored are refused', async ({ things }) => {
    for (const id of ['', 'a\0b', '\ud800']) {
      await expectCode(() => things.put(id, {}), 'VALIDATION')
      await expectCode(() => things.delete(id), 'VALIDATION')
    }
    await expectCode(() => things.put('x'.repeat(513), {}), 'TOO_LARGE')
    await expectCode(() => things.put('é'.repeat(257), {}), 'TOO_LARGE')
    await expectCode(() => things.put(5 as unknown as string, {}), 'VALIDATION')
  })

  fact('a field of 2,000 bytes can be searched, a longer one is TOO_LARGE', async ({ things }) => {
    const name = '😀'.repeat(500)
    await things.put('x', { name, tags: [name] })
    expect(await things.ids({ where: [{ field: 'name', op: 'eq', value: name }] })).toEqual(['x'])
    expect(await things.ids({ where: [{ field: 'tags', op: 'eq', value: name }] })).toEqual(['x'])
    await expectCode(() => things.put('y', { name: `${name}x` }), 'TOO_LARGE')
    await expectCode(() => things.put('y', { tags: [`${name}x`] }), 'TOO_LARGE')
  })

  fact('getMany takes 1,000 ids and no more', async ({ store }) => {
    const things = await withSamples(store)
    const ids = Array.from({ length: 1_000 }, (_, i) => (i === 999 ? 'a' : `no-${i}`))
    expect(await things.getMany(ids)).toHaveLength(1)
    await expectCode(() => things.getMany([...ids, 'b']), 'TOO_LARGE')
  })

  fact('an expectation is a version, absent or any', async ({ things }) => {
    for (const expect of [0, -1, 1.5, Number.NaN, 'present', null]) {
      await expectCode(() => things.put('x', {}, expect as number), 'VALIDATION', String(expect))
    }
  })

  const specs: readonly (readonly [string, Partial<CollectionSpec<Thing>>])[] = [
    ['no name', { name: '' }],
    ['a capital in its name', { name: 'Things' }],
    ['a name of 41 characters', { name: 'x'.repeat(41) }],
    ['a quote in its name', { name: 'a"b' }],
    ['version 0', { version: 0 }],
    ['version 1.5', { version: 1.5 }],
    ['a field called id', { fields: { id: { type: 'text', of: () => 'x' } } }],
    ['a field with a blank in its name', { fields: { 'a b': { type: 'text', of: () => 'x' } } }],
    ['a field called __proto__', { fields: { ['__proto__']: { type: 'text', of: () => 'x' } } }],
    [
      'two fields that differ only in case',
      { fields: { ab: { type: 'text', of: () => 'x' }, aB: { type: 'text', of: () => 'x' } } },
    ],
  ]
  for (const [what, part] of specs) {
    fact(`a specification with ${what} is VALIDATION`, async ({ store }) => {
      await expectCode(() => store.collection({ ...THINGS, name: 'never', ...part }).get('x'), 'VALIDATION')
    })
  }

  suite.fact('one name with two specifications is VALIDATION, for every tenant', async ({ storage, tenant }) => {
    const first: CollectionSpec<Thing> = {
      name: 'twice',
      version: 1,
      fields: { name: { type: 'text', of: (t) => t.name } },
    }
    await storage.tenant(tenant).collection(first).put('x', { name: 'n' })
    const same = storage.tenant(tenant).collection({ ...first })
    expect(await same.get('x')).toMatchObject({ value: { name: 'n' } })
    const others: readonly CollectionSpec<Thing>[] = [
      { ...first, version: 2 },
      { ...first, fields: {} },
      { ...first, fields: { name: { type: 'number', of: (t) => t.size } } },
    ]
    for (const other of others) {
      await expectCode(() => storage.tenant(`${tenant}-b`).collection(other).get('x'), 'VALIDATION')
    }
  })

  suite.fact('a tenant is 1 to 64 characters of a-z A-Z 0-9 . _ -', async ({ storage }) => {
    for (const bad of ['', 'x'.repeat(65), 'a/b', 'a b', 'ä', 'a\n', "a'b", '\0', 5]) {
      await expectCode(
        () =>
          storage
            .tenant(bad as string)
            .collection(THINGS)
            .get('x'),
        'VALIDATION',
      )
    }
    for (const good of ['x'.repeat(64), '.', '..', '-', '__proto__', 'constructor', 'CON']) {
      const things = storage.tenant(good).collection(THINGS)
      await things.put('x', { name: good })
      expect(await things.get('x')).toMatchObject({ value: { name: good } })
    }
  })
}
