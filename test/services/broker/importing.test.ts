import { expect, it } from 'vitest'
import type { Series } from '../../../src/storage/contract.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { brokerBench, NOON, TakingEngine } from './support/bench-of-broker.ts'

// Holds BROKER-1
it('what is imported is in series alone, over what was posted before, and makes its resources', async () => {
  const seen: string[] = []
  const storage = openMemory({ clock: () => NOON })
  const engine = new TakingEngine(storage)
  await using broker = await brokerBench({
    storage,
    engine: () => engine,
    resources: () => ({ discover: async (_tenant, all) => void seen.push(...all.map(({ resource }) => resource)) }),
  })
  await broker.api.posting.events('a', { n: 1, timestamp: NOON }, { forward: false })
  const importing = broker.service.importing('acme')
  await importing.begin()
  await importing.append([
    { resource: 'a', metric: 'n', time: NOON, value: 2 },
    { resource: 'b', metric: 'n', time: NOON - 1, value: 3 },
    { resource: 'b', metric: 'n', time: NOON, value: 4 },
  ])
  const { series } = storage.tenant('acme')
  expect(await series.range({ resources: ['a'], metric: 'n' })).toMatchObject([{ value: 2 }])
  expect(await broker.api.series.list('b')).toEqual([{ metric: 'n', time: NOON, value: 4 }])
  expect(await broker.api.messages.last('b')).toEqual([])
  expect(engine.taken).toEqual([])
  expect(seen).toEqual(['a', 'a', 'b'])
  expect((await storage.tenant('acme').log('broker').bounds(0)).last).toBe(1)
})

it('waits for the disk with what no log brings back after a power cut, and with that alone', async () => {
  const seen: [string, boolean][] = []
  const inner = openMemory({ clock: () => NOON })
  const toldBy = (series: Series): Series => ({
    ...boundTo(series),
    append: (batch) => {
      seen.push(['append', batch.synced === true])
      return series.append(batch)
    },
    remove: (what) => {
      seen.push(['remove', what.synced === true])
      return series.remove(what)
    },
  })
  const tenant: typeof inner.tenant = (id) => {
    const store = inner.tenant(id)
    return { ...boundTo(store), series: toldBy(store.series), blobs: store.blobs }
  }
  await using broker = await brokerBench({ storage: { ...boundTo(inner), tenant } })
  await broker.api.posting.events('a', { n: 1, timestamp: NOON }, { forward: false })
  const importing = broker.service.importing('acme')
  await importing.begin()
  expect(seen).toEqual([['append', false]])
  await importing.append([{ resource: 'a', metric: 'n', time: NOON, value: 2 }])
  await broker.api.series.remove({ resource: 'a' })
  expect(seen.slice(1)).toEqual([
    ['append', true],
    ['remove', true],
  ])
})

/** Its members by themselves, those of its class included. */
function boundTo<T extends object>(of: T): T {
  const bound: Record<string, unknown> = {}
  for (let level: object = of; level !== Object.prototype; level = Object.getPrototypeOf(level) as object) {
    for (const name of Object.getOwnPropertyNames(level)) {
      const member: unknown = name === 'constructor' ? undefined : Reflect.get(of, name)
      if (typeof member === 'function') bound[name] ??= member.bind(of) as unknown
    }
  }
  return bound as T
}
