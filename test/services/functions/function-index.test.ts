// Holds FUNCINDEX-1
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { FunctionStore } from '../../../src/services/functions/function-store.ts'
import { type FunctionRecord, recordId } from '../../../src/services/functions/function-record.ts'
import { compareNames } from '../../../src/services/functions/registry/select-versions.ts'
import { compareVersions } from '../../../src/services/functions/registry/versions.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { recordOf } from './support/records.ts'

type Step = {
  readonly host: 0 | 1
  readonly name: string
  readonly version: string
  readonly deprecated: boolean
  readonly isGone: boolean
}

const step: fc.Arbitrary<Step> = fc.record({
  host: fc.constantFrom(0, 1),
  name: fc.constantFrom('a', 'B', 'b'),
  version: fc.constantFrom('1.0.0', '1.2.0', '1.10.0', '2.0.0'),
  deprecated: fc.boolean(),
  isGone: fc.boolean(),
})

/** Returns what a list of everything contains. */
async function seen(store: FunctionStore): Promise<readonly FunctionRecord[]> {
  return (await store.indexed()).groups('plugs').flatMap(({ versions }) => versions)
}

async function make(store: FunctionStore, { name, version, deprecated, isGone }: Step): Promise<void> {
  const record = recordOf({ name, version, deprecated })
  const found = await store.find(record)
  if (isGone && found !== undefined) await store.store.commit(store.deleting(record, found.version))
  else if (!isGone) await store.store.commit(store.putting(record, found?.version ?? 'absent'))
}

it('includes writes of any host, in order, after they were acknowledged', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const storage = openMemory()
      const hosts = [new FunctionStore(storage.tenant('t')), new FunctionStore(storage.tenant('t'))] as const
      const model = new Map<string, FunctionRecord>()
      for (const one of steps) {
        await make(hosts[one.host], one)
        const record = recordOf(one)
        if (one.isGone) model.delete(recordId(record))
        else model.set(recordId(record), recordOf({ name: one.name, version: one.version, deprecated: one.deprecated }))
        const wanted = [...model.values()].toSorted(
          (a, b) => compareNames(a.name, b.name) || compareVersions(b.version, a.version),
        )
        expect(await seen(hosts[one.host])).toEqual(wanted)
        if (one.deprecated) expect(await seen(hosts[1 - one.host] ?? hosts[0])).toEqual(wanted)
      }
    }),
  )
})

it('adds and removes tags', async () => {
  const store = new FunctionStore(openMemory().tenant('t'))
  await store.store.commit(store.puttingTag({ name: 'a', color: '#000000' }))
  expect([...(await store.indexed()).tags.values()]).toEqual([{ name: 'a', color: '#000000' }])
  await store.store.commit(store.deletingTag('a'))
  expect((await store.indexed()).tags.size).toBe(0)
})

it('reads everything again after the log was trimmed', async () => {
  const store = new FunctionStore(openMemory().tenant('t'))
  const reader = new FunctionStore(store.store)
  await store.store.commit(store.putting(recordOf({ name: 'a', version: '1.0.0' }), 'absent'))
  expect(await seen(reader)).toHaveLength(1)
  const writes = Array.from({ length: 100 }, (_, i) =>
    store.putting(recordOf({ name: 'a', version: `1.0.${i}` }), 'any'),
  )
  await store.store.commit(writes.flat())
  await store.store.log('function_changes').trim(50)
  expect(await seen(reader)).toHaveLength(100)
})

it('recovers after a failed read', async () => {
  const { tenant } = openMemory()
  const own = tenant('t')
  let isBroken = true
  const log = own.log('function_changes')
  const bounds = () => (isBroken ? Promise.reject(new Error('away')) : log.bounds())
  const store = new FunctionStore({
    ...own,
    log: () => ({ ...log, bounds, read: log.read.bind(log) }),
    collection: own.collection.bind(own),
  })
  await expect(store.indexed()).rejects.toThrow('away')
  isBroken = false
  expect(await seen(store)).toEqual([])
})
