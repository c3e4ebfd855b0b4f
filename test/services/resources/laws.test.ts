/** Tests what must hold for any writes, by any number of concurrent writers, and across restarts. */
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Json } from '../../../src/kernel/json.ts'
import { RESOURCES } from '../../../src/services/resources/resource-record.ts'
import { openMemoryBlobs } from '../../../src/storage/memory/memory-objects.ts'
import { openSqlite } from '../../../src/storage/sqlite/open-sqlite.ts'
import { pluck } from '../support/answer.ts'
import { bench } from './support/bench-of-resources.ts'
import { runs } from '../../support/arbitraries/runs.ts'
import { testFolder } from '../../support/test-folder.ts'

const name = fc.constantFrom('a', 'b', 'owner', 'alias', 'x.y', 'tags', 'resourceTypeId')
const scalar = fc.oneof(fc.integer(), fc.string({ maxLength: 5 }), fc.boolean())
const value = (key: string): fc.Arbitrary<Json> =>
  key === 'tags'
    ? fc.array(fc.constantFrom('x', 'y'), { maxLength: 2 })
    : key === 'owner' || key === 'alias' || key === 'resourceTypeId'
      ? fc.constantFrom('t', 'u', 'v')
      : fc.oneof(scalar, fc.dictionary(fc.constantFrom('p', 'q'), scalar, { noNullPrototype: true }))
const attribute = name.chain((key) => fc.tuple(fc.constant(key), fc.option(value(key))))
const patch = fc.array(attribute, { maxLength: 5 }).map((entries): Record<string, Json> => Object.fromEntries(entries))

describe('a resource that is patched', () => {
  it('has its attributes overlaid with the patch, and loses the ones that are null', async () => {
    await fc.assert(
      fc.asyncProperty(patch, fc.array(patch, { maxLength: 4 }), async (first, patches) => {
        const { api, close } = await bench()
        const model = new Map<string, Json>([['id', 'r']])
        for (const each of [first, ...patches]) {
          for (const [key, json] of Object.entries(each)) {
            if (json === null) model.delete(key)
            else model.set(key, json)
          }
          const { value: stored } = await api.resources.patch('r', each)
          expect(stored).toEqual(Object.fromEntries(model))
          const again = await api.resources.patch('r', each)
          expect(again.value).toEqual(stored)
          expect((await api.resources.get('r', { denormalized: false })).value).toEqual(stored)
        }
        expect((await api.resources.changes('r', {})).total).toBe(2 * (patches.length + 1))
        await close()
      }),
      runs(40),
    )
  })
})

// Holds RESOURCE-1
describe('concurrent writers', () => {
  it('lose no update; the history has every write in version order', async () => {
    const { api, close } = await bench()
    await api.resources.create({ id: 'r' })
    const names = Array.from({ length: 60 }, (_, n) => `k${n}`)
    await Promise.all(names.map((key) => api.resources.patch('r', { [key]: 1 })))
    const { value: shown, version } = await api.resources.get('r')
    expect(Object.keys(shown).sort()).toEqual(['id', ...names].sort())
    expect(version).toBe(61)
    const { values, total } = await api.resources.changes('r', { limit: 100 })
    expect(total).toBe(61)
    const sizes = values.map(({ resource = { id: '' } }) => Object.keys(resource).length)
    expect(sizes).toEqual(Array.from({ length: 61 }, (_, n) => 61 - n))
    await close()
  })

  it('of two hosts lose no update', async () => {
    await using one = await bench()
    await using two = await bench({ storage: one.storage, newId: () => `two-${Math.random()}` })
    await one.api.resources.create({ id: 'r' })
    const names = Array.from({ length: 20 }, (_, n) => `k${n}`)
    await Promise.all(names.map((key, n) => (n % 2 === 0 ? one : two).api.resources.patch('r', { [key]: 1 })))
    expect(Object.keys((await one.api.resources.get('r')).value)).toHaveLength(21)
    expect((await two.api.resources.changes('r', {})).total).toBe(21)
  })

  it('that expect the same version: one of them succeeds', async () => {
    const { api, close } = await bench()
    await api.resources.create({ id: 'r' })
    const outcomes = await Promise.allSettled(
      ['a', 'b', 'c'].map((key) => api.resources.patch('r', { [key]: 1 }, { ifVersion: 1 })),
    )
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected'])
    await close()
  })

  it('creating the same resource: one of them succeeds', async () => {
    const { ask, close } = await bench()
    const made = await Promise.all(Array.from({ length: 5 }, () => ask('POST', '/api/resources', { id: 'r' })))
    expect(made.map(({ status }) => status).sort((a, b) => a - b)).toEqual([201, 409, 409, 409, 409])
    await close()
  })
})

describe('search', () => {
  /** Executes random writes of types and resources; afterwards, listings agree with the resources' state. */
  it('agrees with the shown resources when all background work is done', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('resource' as const), id: fc.constantFrom('a', 'b', 'c'), body: patch }),
      fc.record({ kind: fc.constant('type' as const), id: fc.constantFrom('t', 'u', 'v'), body: patch }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 15 }), async (steps) => {
        const { api, service, storage, close } = await bench()
        await Promise.all(
          steps.map(({ kind, id, body: { resourceTypeId, ...body } }) =>
            kind === 'type' ? api.types.patch(id, body) : api.resources.patch(id, { ...body, resourceTypeId }),
          ),
        )
        await expect.poll(() => service.gauges().openOperations).toBe(0)
        const found = await storage.tenant('acme').collection(RESOURCES).find({})
        const shown = await Promise.all(found.map(async ({ id }) => (await api.resources.get(id)).value))
        for (const tag of ['x', 'y']) {
          const expected = shown.filter(({ tags }) => Array.isArray(tags) && tags.includes(tag)).map(({ id }) => id)
          expect(pluck((await api.resources.list({ tag })).values, 'id')).toEqual(expected.sort())
        }
        for (const owner of ['t', 'u', 'v']) {
          const expected = shown.filter((each) => each['owner'] === owner).map(({ id }) => id)
          const { values } = await api.resources.list({ query: `owner:${owner}` })
          expect(pluck(values, 'id')).toEqual(expected.sort())
        }
        await close()
      }),
      runs(40),
    )
  })
})

// Holds TYPEWORK-1
describe('a restart', () => {
  it('continues the background work of types, and keeps every acknowledged write', async () => {
    const folder = testFolder(onTestFinished)
    const first = openSqlite({ folder, blobs: openMemoryBlobs() })
    const before = await bench({ storage: await first })
    await before.api.types.create({ id: 't', provider: 'one' })
    for (let n = 0; n < 30; n++) await before.api.resources.create({ id: `r${n}`, resourceTypeId: 't' })
    const { value: busy } = await before.api.types.patch('t', { provider: 'two' })
    expect(busy['$bulkOperation']).toEqual(expect.any(String))
    // the operation stops anywhere, as when the process dies
    await before.service.stop()
    const types = (await first).tenant('acme')
    expect(await types.log('resources').bounds()).toEqual({ first: 1, last: 32 })
    await before.app.close()
    await (await first).close()

    const storage = await openSqlite({ folder, blobs: openMemoryBlobs() })
    const after = await bench({ storage, newId: () => `second-${Math.random()}` })
    await expect.poll(async () => (await after.api.types.get('t')).value['$bulkOperation']).toBeUndefined()
    expect((await after.api.resources.list({ provider: 'two', limit: 0 })).total).toBe(30)
    expect((await after.api.resources.changes('r1', {})).total).toBe(1)
    await after.close()
    await storage.close()
  })
})
