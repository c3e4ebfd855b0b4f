/** Tests walks over collections larger than a single read. */
import { describe, expect, it } from 'vitest'
import type { CollectionSpec } from '../../src/storage/contract.ts'
import { openMemory } from '../../src/storage/memory/open-memory.ts'
import { portions, portionsOfIds, walk } from '../../src/storage/walk.ts'

interface Lamp {
  readonly state: string
}

const LAMPS: CollectionSpec<Lamp> = {
  name: 'lamps',
  version: 1,
  fields: { state: { type: 'text', of: ({ state }) => state } },
}

/** Creates `count` lamps, of which every second is on. */
async function lamps(count: number) {
  const collection = openMemory().tenant('acme').collection(LAMPS)
  for (let i = 0; i < count; i += 1) await collection.put(`lamp-${i}`, { state: i % 2 === 0 ? 'on' : 'off' })
  return collection
}

const areOn = [{ field: 'state', op: 'eq', value: 'on' }] as const

describe('portions', () => {
  it.each([
    { count: 0, sizes: [] },
    { count: 2, sizes: [2] },
    { count: 3, sizes: [3] },
    { count: 4, sizes: [3, 1] },
    { count: 6, sizes: [3, 3] },
  ])('of three out of $count: $sizes', async ({ count, sizes }) => {
    const collection = await lamps(count)
    const read: (readonly { readonly id: string }[])[] = []
    for await (const portion of portions(collection, [], 3)) read.push(portion)
    expect(read.map((portion) => portion.length)).toEqual(sizes)
    expect(read.flat().map(({ id }) => id)).toEqual(await collection.ids({}))
  })

  it('of ids are as those of documents', async () => {
    const collection = await lamps(7)
    const read: (readonly string[])[] = []
    for await (const portion of portionsOfIds(collection, areOn, 3)) read.push(portion)
    expect(read).toEqual([['lamp-0', 'lamp-2', 'lamp-4'], ['lamp-6']])
  })
})

describe('walk', () => {
  it('returns the ones that fit, one by one', async () => {
    const read: string[] = []
    for await (const { id } of walk(await lamps(5), areOn, 2)) read.push(id)
    expect(read).toEqual(['lamp-0', 'lamp-2', 'lamp-4'])
  })

  it('continues where it was, also when what it read is removed meanwhile', async () => {
    const collection = await lamps(6)
    for await (const { id } of walk(collection, [], 2)) await collection.delete(id)
    expect(await collection.ids({})).toEqual([])
  })
})
