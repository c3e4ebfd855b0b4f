/**
 * Tests counts that are read again and again while documents change: a store that maintains counts agrees with one that
 * scans.
 */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Condition, Store, Write } from '../../../src/storage/contract.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { THINGS, type Thing } from '../../contracts/storage/things.ts'
import { sqliteMedium } from './sqlite-medium.ts'
import { runs } from '../../support/arbitraries/runs.ts'
import { asks } from '../../contracts/storage/asks.ts'

const QUESTIONS: readonly (readonly Condition[])[] = [
  [],
  [asks('status', 'eq', 'on')],
  [asks('status', 'eq', 'on'), asks('size', 'eq', 1)],
  [asks('tags', 'eq', 'hot'), asks('status', 'ne', 'on')],
  [asks('tags', 'in', ['hot', 'cold'])],
  [asks('name', 'contains', 'ä')],
  [asks('name', 'like', 'a*')],
  [asks('id', 'gt', 'b')],
  [asks('size', 'exists', false)],
  [{ field: 'at', op: 'box', south: -20, north: 20, west: 170, east: -170 }],
  [{ any: [[asks('size', 'lt', 1)], [asks('at', 'exists', true)]] }],
]

const thing: fc.Arbitrary<Thing> = fc.record(
  {
    name: fc.constantFrom('a', 'Ä', 'ab'),
    status: fc.constantFrom('on', 'off'),
    size: fc.constantFrom(-0, 1, 2.5),
    tags: fc.uniqueArray(fc.constantFrom('hot', 'cold')),
    at: fc.record({ lat: fc.constantFrom(-10, 60), lng: fc.constantFrom(-175, 13, 175) }),
  },
  { requiredKeys: [] },
)
const unit = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.option(thing, { nil: undefined })), {
  minLength: 1,
  maxLength: 3,
})

function write(store: Store, writes: readonly (readonly [string, Thing | undefined])[]): Promise<unknown> {
  const things = store.collection(THINGS)
  const made = writes.map(([id, value]): Write =>
    value === undefined ? things.deleting(id) : things.putting(id, value),
  )
  return store.commit(made)
}

function counts(store: Store): Promise<readonly number[]> {
  return Promise.all(QUESTIONS.map((where) => store.collection(THINGS).count(where)))
}

describe('counts that are kept', () => {
  it('are those of a fresh look, after whatever was written, one by one or several at once', async () => {
    const opened = await sqliteMedium().open({ clock: () => 0 })
    let tenants = 0
    try {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.array(unit, { minLength: 1, maxLength: 3 }), { maxLength: 8 }), async (rounds) => {
          const store = opened.storage.tenant(`t${tenants++}`)
          const plain = openMemory().tenant('t')
          expect(await counts(store)).toEqual(await counts(plain))
          for (const units of rounds) {
            for (const one of units) await write(plain, one)
            await Promise.all(units.map((one) => write(store, one)))
            expect(await counts(store)).toEqual(await counts(plain))
          }
        }),
        runs(30),
      )
    } finally {
      await opened.destroy()
    }
  })
})
