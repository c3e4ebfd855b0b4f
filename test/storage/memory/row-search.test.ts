/** Queries a table so large that ordered indexes are walked, abandoned and released. */
import { describe, expect, it } from 'vitest'
import type { Collection, Condition, Query } from '../../../src/storage/contract.ts'
import { MemoryDisk } from '../../../src/storage/memory/memory-disk.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { CollectionModel } from '../../contracts/storage/collection-model.ts'
import { THINGS, type Thing } from '../../contracts/storage/things.ts'
import { asks } from '../../contracts/storage/asks.ts'

const COUNT = 2_400

/**
 * Half of all things are on, and one in 40 is large; both are spread evenly, except at the end, where there are none.
 */
function thing(i: number): Thing {
  return {
    name: `n${i % 50}`,
    ...(i % 4 < 2 && { status: 'on' }),
    ...(i % 5 !== 0 && { size: (i * 7) % 100 }),
    tags: [`t${i % 3}`, i > COUNT - 10 ? 'late' : 'early'],
  }
}

async function filled(): Promise<{
  things: Collection<Thing>
  model: CollectionModel
  put: (i: number, value: Thing) => Promise<void>
}> {
  const store = openMemory().tenant('acme')
  const things = store.collection(THINGS)
  const model = new CollectionModel()
  const put = async (i: number, value: Thing) => {
    const id = `t${(i * 1_237) % COUNT}`
    model.put(id, value, await things.put(id, value))
  }
  for (let i = 0; i < COUNT; i += 1) await put(i, thing(i))
  return { things, model, put }
}

const on: Condition = asks('status', 'eq', 'on')
const WHERES: readonly (readonly Condition[])[] = [
  [],
  [on],
  [on, asks('size', 'gte', 97)],
  [on, asks('name', 'contains', 'N4')],
  [on, asks('tags', 'in', ['t0', 't1', 'early'])],
  [asks('tags', 'eq', 'early'), asks('size', 'lt', 0)],
  [asks('tags', 'eq', 'late')],
]
const ORDERS: readonly Query[] = [
  {},
  { afterId: 't3' },
  { sort: [{ field: 'size' }] },
  { sort: [{ field: 'size', descending: true }] },
  {
    sort: [
      { field: 'name', descending: true },
      { field: 'size', descending: true },
    ],
  },
  { sort: [{ field: 'status' }, { field: 'name' }, { field: 'id', descending: true }] },
  { sort: [{ field: 'id', descending: true }] },
]
const PAGES: readonly Query[] = [
  { limit: 20 },
  { offset: 70, limit: 20 },
  { offset: 1_190, limit: 30 },
  { limit: 10_000 },
]

async function expectAgreement(things: Collection<Thing>, model: CollectionModel): Promise<void> {
  for (const where of WHERES) {
    expect(await things.count(where)).toBe(model.find({ where, limit: Infinity }).length)
    for (const order of ORDERS) {
      const all = model.find({ ...order, where, limit: Infinity }).map((stored) => stored.id)
      for (const page of PAGES) {
        const { offset = 0, limit = 0 } = page
        const ids = await things.ids({ ...order, ...page, where })
        expect([where, order, page, ids]).toEqual([where, order, page, all.slice(offset, offset + limit)])
      }
    }
  }
}

describe('a large table', () => {
  it('returns each page as sorting everything would', async () => {
    const { things, model } = await filled()
    await expectAgreement(things, model)
  })

  it('does so after few and after many changes', async () => {
    const { things, model, put } = await filled()
    await things.ids({ sort: [{ field: 'size' }], where: [on], limit: 1 })
    for (let i = 0; i < 30; i += 1) await put(i * 3, thing(i * 11))
    await expectAgreement(things, model)
    for (let i = 0; i < 1_500; i += 1) await put(i, thing(i * 13))
    for (const id of ['t5', 't6', 't2399']) {
      await things.delete(id)
      model.delete(id)
    }
    await expectAgreement(things, model)
  })
})

describe('memory that is kept', () => {
  it('is of one open medium at a time', async () => {
    const disk = new MemoryDisk()
    const first = openMemory({ disk })
    expect(() => openMemory({ disk })).toThrow(/in use by an open medium/)
    await first.close()
    await openMemory({ disk }).close()
  })
})
