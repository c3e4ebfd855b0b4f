// Holds AUDIT-1, AUDIT-2, AUDIT-3
import { beforeEach, describe, expect, it, vi } from 'vitest'
import type { Actor } from '../../src/kernel/actor.ts'
import { actingAs, currentActor } from '../../src/platform/acting.ts'
import { AUDIT_ENTRIES, auditedStorage } from '../../src/storage/audited-store.ts'
import type { CollectionSpec, Store } from '../../src/storage/contract.ts'
import { openMemory } from '../../src/storage/memory/open-memory.ts'

interface Thing {
  readonly n: number
  readonly secret?: string
  readonly text?: string
}
const THINGS: CollectionSpec<Thing> = { name: 'things', version: 1, fields: {}, audited: true }
const OTHERS: CollectionSpec<Thing> = { name: 'others', version: 1, fields: {} }
const ANNA: Actor = {
  tenant: 'one',
  user: 'anna',
  address: '10.0.0.1',
  method: 'PUT',
  path: '/things/a',
  request: 'r1',
}
const BORIS: Actor = { tenant: 'one', user: 'boris', path: 'jobs/batch/1' }

let store: Store
/** what the audited store writes to */
let inner: Store
beforeEach(() => {
  let ids = 0
  const newId = (time: number) => `${time}-${String(ids++).padStart(4, '0')}`
  const storage = openMemory()
  inner = storage.tenant('one')
  storage.tenant = () => inner
  store = auditedStorage(storage, { actor: currentActor, actingAs, now: () => 5, newId }).tenant('one')
})
const entries = async () => (await store.collection(AUDIT_ENTRIES).find({})).map(({ value }) => value)
const changed = async () => (await entries()).map(({ user, changes }) => [user, changes.map(({ id }) => id)])

describe('an audited store', () => {
  it('records who created, changed and removed a document, with the difference', async () => {
    const things = store.collection(THINGS)
    await actingAs(ANNA, async () => {
      await things.put('a', { n: 1, secret: 'x' })
      await things.put('a', { n: 2, secret: 'x' })
      await things.delete('a')
    })
    const [created, change, removed] = await entries()
    const about = { collection: 'things', id: 'a' }
    expect(created).toEqual({
      ...ANNA,
      at: 5,
      changes: [{ ...about, change: 'created', difference: [{ path: '', to: { n: 1, secret: '***' } }] }],
    })
    expect(change?.changes).toEqual([{ ...about, change: 'changed', difference: [{ path: '/n', from: 1, to: 2 }] }])
    expect(removed?.changes).toEqual([
      { ...about, change: 'removed', difference: [{ path: '', from: { n: 2, secret: '***' } }] },
    ])
  })

  it('compares with the document that the writer read, without another read', async () => {
    const things = store.collection(THINGS)
    await actingAs(ANNA, () => things.put('a', { n: 1 }, 'absent'))
    const stored = { id: 'a', version: 1, value: { n: 1 } }
    const reads = vi.spyOn(inner, 'collection')
    await actingAs(ANNA, () => things.put('a', { n: 2 }, stored))
    expect((await entries()).at(-1)?.changes).toMatchObject([{ difference: [{ path: '/n', from: 1, to: 2 }] }])
    expect(reads.mock.calls.map(([{ name }]) => name)).not.toContain('things')
    await expect(actingAs(ANNA, () => things.put('a', { n: 3 }, stored))).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(await entries()).toHaveLength(2)
  })

  it.each([
    ['10,000 changes, the most of a commit', 10_000, 1],
    ['changes of many large documents', 300, 15_000],
  ])('records %s, in as many entries as they need', async (_what, count, size) => {
    const things = store.collection(THINGS)
    const text = 'x'.repeat(size)
    await actingAs(ANNA, () =>
      store.commit(Array.from({ length: count }, (_, n) => things.putting(`t${n}`, { n, text }))),
    )
    const found = await entries()
    expect(found.flatMap(({ changes }) => changes.map(({ id }) => id))).toHaveLength(count)
    expect(found.length).toBeGreaterThan(1)
  })

  it('states the number of differences when they do not fit into an entry', async () => {
    const things = store.collection(THINGS)
    const wide = (mark: string) => ({
      n: 1,
      ...Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`m${n}`, mark.repeat(9_000)])),
    })
    await actingAs(ANNA, async () => {
      await things.put('a', wide('x'))
      await things.put('a', wide('y'))
    })
    const [, change] = await entries()
    expect(change?.changes).toEqual([
      {
        collection: 'things',
        id: 'a',
        change: 'changed',
        difference: [{ path: '', to: '100 differences, too large for an entry' }],
      },
    ])
  })

  it('records nothing of work without an actor, of other collections, and of writes that change nothing', async () => {
    const things = store.collection(THINGS)
    await things.put('a', { n: 1 })
    await actingAs(ANNA, async () => {
      await store.collection(OTHERS).put('b', { n: 1 })
      await things.put('a', { n: 1 })
      await things.delete('gone')
      await store.log('inputs').append([{ n: 1 }])
    })
    expect(await entries()).toEqual([])
  })

  it('has no entry of a commit that is rejected', async () => {
    const things = store.collection(THINGS)
    await expect(actingAs(ANNA, () => things.put('a', { n: 1 }, 7))).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(await entries()).toEqual([])
  })

  it('records each actor of a shared commit, and answers with the results of its writes alone', async () => {
    const things = store.collection(THINGS)
    const ofAnna = await actingAs(ANNA, async () => [things.putting('a', { n: 1 }), things.putting('b', { n: 1 })])
    const ofBoris = await actingAs(BORIS, async () => [things.putting('c', { n: 1 })])
    const { results } = await store.commit([...ofAnna, ...ofBoris])
    expect(results).toEqual([1, 1, 1])
    expect(await changed()).toEqual([
      ['anna', ['a', 'b']],
      ['boris', ['c']],
    ])
  })

  it('does not attribute work to an actor whose work has ended', async () => {
    const things = store.collection(THINGS)
    let later: Promise<unknown> = Promise.resolve()
    let go: () => void = () => undefined
    const gate = new Promise<void>((resolve) => (go = resolve))
    await actingAs(ANNA, async () => {
      later = gate.then(() => things.put('a', { n: 1 }))
    })
    go()
    await later
    expect(await entries()).toEqual([])
  })

  it('keeps the order of commits, audited or not', async () => {
    const things = store.collection(THINGS)
    const order: string[] = []
    const noted = (name: string) => () => void order.push(name)
    await Promise.all([
      actingAs(ANNA, () => things.put('a', { n: 1 })).then(noted('first')),
      store
        .log('inputs')
        .append([{ n: 1 }])
        .then(noted('second')),
      things.put('a', { n: 2 }, 1).then(noted('third')),
      store.collection(OTHERS).put('b', { n: 1 }).then(noted('fourth')),
    ])
    expect(order).toEqual(['first', 'second', 'third', 'fourth'])
    expect((await things.get('a'))?.value).toEqual({ n: 2 })
  })
})
