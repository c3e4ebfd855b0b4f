import { expect, it, vi } from 'vitest'
import { TenantLog } from '../../../src/log/tenant-log.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { brokerBench, NOON, TakingEngine } from './support/bench-of-broker.ts'

// Holds BROKER-1
it('what is imported is in series alone, over what was posted before, and makes its resources', async () => {
  const seen: string[] = []
  const storage = openMemory({ clock: () => NOON })
  const engine = new TakingEngine(new TenantLog(storage.tenant('acme')))
  await using broker = await brokerBench({
    storage,
    engine: () => engine,
    resources: () => ({ discover: async (all) => void seen.push(...all.map(({ resource }) => resource)) }),
  })
  await broker.api.posting.events('a', { n: 1, timestamp: NOON }, { forward: false })
  const { importing } = broker.service
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
  expect((await storage.tenant('acme').log('log').bounds()).last).toBe(1)
})

it('waits for the disk with what no log brings back after a power cut, and with that alone', async () => {
  const storage = openMemory({ clock: () => NOON })
  const store = storage.tenant('acme')
  vi.spyOn(storage, 'tenant').mockReturnValue(store)
  await using broker = await brokerBench({ storage })
  const { series } = store
  const [append, remove] = [vi.spyOn(series, 'append'), vi.spyOn(series, 'remove')]
  const synced = () => [append, remove].map(({ mock }) => mock.calls.map(([what]) => what.synced === true))
  await broker.api.posting.events('a', { n: 1, timestamp: NOON }, { forward: false })
  const { importing } = broker.service
  await importing.begin()
  expect(synced()).toEqual([[false], []])
  await importing.append([{ resource: 'a', metric: 'n', time: NOON, value: 2 }])
  await broker.api.series.remove({ resource: 'a' })
  expect(synced()).toEqual([[false, true], [true]])
})
