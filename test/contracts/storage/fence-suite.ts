/** Conformance of fences: only the last holder of a fence can write. `describeFence(name, medium)`. */
import { expect } from 'vitest'
import type { AppError } from '../../../src/kernel/errors.ts'
import type { Storage, Store } from '../../../src/storage/contract.ts'
import { fenceStore, takeFence } from '../../../src/storage/fence-store.ts'
import { describeCommit } from './commit-suite.ts'
import { describeLog } from './log-suite.ts'
import { describeMedium, expectCode, failureOf, storeFact, type Medium, type Suite } from './medium.ts'
import { THINGS } from './things.ts'

export function describeFence(name: string, medium: Medium): void {
  describeMedium(`fences on ${name}`, medium, definesFences)
  describeCommit(`${name} behind a fence`, behindFence(medium))
  describeLog(`${name} behind a fence`, behindFence(medium))
}

function definesFences(suite: Suite<Storage>): void {
  const fact = storeFact(suite)

  fact('FENCE-1: whoever took it last writes, those before are refused whole', async ({ store }) => {
    const first = fenceStore(store, await takeFence(store, 'p0', { holder: 'host-a', term: 1 }))
    await first.collection(THINGS).put('x', { size: 1 })
    const fence = await takeFence(store, 'p0', { holder: 'host-b', term: 2 })
    expect(fence).toEqual({ name: 'p0', term: 2, version: 2 })
    const second = fenceStore(store, fence)
    await second.collection(THINGS).put('y', { size: 2 })

    const attempts: readonly (() => Promise<unknown>)[] = [
      () => first.collection(THINGS).put('x', { size: 9 }),
      () => first.collection(THINGS).delete('y'),
      () => first.log('inputs').append(['late']),
      () => first.commit([first.collection(THINGS).putting('z', {}), first.log('inputs').appending(['late'])]),
    ]
    for (const attempt of attempts) {
      const failure = await failureOf(attempt)
      expect(failure.code).toBe('FENCED')
      expect(failure.message).toContain('host-b (term 2) has taken over p0')
    }
    expect(await store.collection(THINGS).find({})).toEqual([
      { id: 'x', version: 1, value: { size: 1 } },
      { id: 'y', version: 1, value: { size: 2 } },
    ])
    expect((await store.log('inputs').bounds()).last).toBe(0)
  })

  fact('FENCE-2: what was under way is there before the fence is taken, or never', async ({ store }) => {
    const first = fenceStore(store, await takeFence(store, 'p0', { holder: 'host-a', term: 1 }))
    const log = first.log('inputs')
    const writing = Array.from({ length: 40 }, (_, n) => log.append([n]))
    const fence = await takeFence(store, 'p0', { holder: 'host-b', term: 2 })
    const { last } = await fenceStore(store, fence).log('inputs').bounds()
    const settled = await Promise.allSettled(writing)
    expect(settled.filter((one) => one.status === 'fulfilled')).toHaveLength(last)
    expect((await store.log('inputs').bounds()).last).toBe(last)
  })

  fact('whoever lost it is told once, and asks the medium no more', async ({ store }) => {
    const told: AppError[] = []
    const first = fenceStore(store, await takeFence(store, 'p0', { holder: 'host-a', term: 1 }), (error) =>
      told.push(error),
    )
    await takeFence(store, 'p0', { holder: 'host-b', term: 2 })
    const things = first.collection(THINGS)
    await Promise.allSettled([things.put('a', {}), things.put('b', {}), things.put('c', {})])
    await expectCode(() => things.put('d', {}), 'FENCED')
    await expectCode(() => first.commit([]), 'FENCED')
    expect(told.map(({ code }) => code)).toEqual(['FENCED'])
    expect(await things.get('a')).toBeUndefined()
  })

  fact('FENCE-3: who comes with an earlier term takes nothing', async ({ store }) => {
    const fence = await takeFence(store, 'p0', { holder: 'host-b', term: 5 })
    const late = await failureOf(() => takeFence(store, 'p0', { holder: 'host-a', term: 4 }))
    expect(late.code).toBe('FENCED')
    expect(late.message).toContain('host-b (term 5) has taken over p0')
    expect(await fenceStore(store, fence).collection(THINGS).put('x', {})).toBe(1)
  })

  fact('of the same term it may be taken again: what was open before ends', async ({ store }) => {
    const first = fenceStore(store, await takeFence(store, 'p0', { holder: 'host-a', term: 1 }))
    const again = fenceStore(store, await takeFence(store, 'p0', { holder: 'host-a', term: 1 }))
    await expectCode(() => first.collection(THINGS).put('x', {}), 'FENCED')
    expect(await again.collection(THINGS).put('x', {})).toBe(1)
  })

  fact('two that take it at once get it one after the other', async ({ store }) => {
    const taken = await Promise.all(
      ['host-a', 'host-b', 'host-c'].map((holder) => takeFence(store, 'p0', { holder, term: 1 })),
    )
    const stores = taken.map((fence) => fenceStore(store, fence))
    const settled = await Promise.allSettled(stores.map((one) => one.collection(THINGS).put('x', {}, 'absent')))
    expect(settled.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
    expect(taken.map(({ version }) => version).sort((a, b) => a - b)).toEqual([1, 2, 3])
  })

  fact('fences have nothing to do with each other', async ({ store }) => {
    const one = fenceStore(store, await takeFence(store, 'p0', { holder: 'host-a', term: 1 }))
    const other = fenceStore(store, await takeFence(store, 'p1', { holder: 'host-b', term: 1 }))
    await takeFence(store, 'p0', { holder: 'host-c', term: 2 })
    await expectCode(() => one.collection(THINGS).put('x', {}), 'FENCED')
    expect(await other.collection(THINGS).put('x', {})).toBe(1)
  })

  fact('a unit that is wrong for other reasons says them', async ({ store }) => {
    const fenced = fenceStore(store, await takeFence(store, 'p0', { holder: 'host-a', term: 1 }))
    const things = fenced.collection(THINGS)
    await things.put('x', {})
    await expectCode(() => things.put('x', {}, 'absent'), 'CONFLICT')
    await expectCode(() => things.put('', {}), 'VALIDATION')
    expect(await things.put('x', {}, 1)).toBe(2)
  })
}

/** The same medium, all of whose stores are behind a fence that nobody else takes. */
function behindFence(medium: Medium): Medium {
  return {
    ...medium,
    async open(setup) {
      const opened = await medium.open(setup)
      const taken = new Set<string>()
      const around = (storage: Storage): Storage => ({
        tenant: (id) => fenced(storage.tenant(id), id, taken),
        tenants: () => storage.tenants(),
        close: () => storage.close(),
        stats: () => storage.stats(),
      })
      return { ...opened, storage: around(opened.storage), reopen: async () => around(await opened.reopen()) }
    },
  }
}

/** A record as `takeFence` stores it. */
const FENCES = { name: 'fences', version: 1, fields: {} } as const

/** A fence that is taken by the first write: those after it come later. */
function fenced(store: Store, tenant: string, taken: Set<string>): Store {
  if (!taken.has(tenant)) void store.collection(FENCES).put('p0', { holder: 'host', term: 1 })
  taken.add(tenant)
  return fenceStore(store, { name: 'p0', term: 1, version: 1 })
}
