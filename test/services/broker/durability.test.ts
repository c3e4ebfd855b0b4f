/** What was acknowledged is there, whatever happens between the log and the series (B1, B2). */
import { describe, expect, it } from 'vitest'
import { entriesOf } from '../../../src/services/broker/posting/log-entry.ts'
import { readPost } from '../../../src/services/broker/posting/read-post.ts'
import { MemoryDisk } from '../../../src/storage/memory/memory-disk.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { brokerBench, NOON, type BrokerBench } from './support/bench-of-broker.ts'
import { diskFull, failingStorage, poisoned } from './support/failing-storage.ts'

async function values(broker: BrokerBench, resource = 'a'): Promise<readonly unknown[]> {
  const { series } = broker.storage.tenant('acme')
  return (await series.range({ resources: [resource], metric: 'n' })).map(({ value }) => value)
}

function at(n: number): { n: number; timestamp: number } {
  return { n, timestamp: NOON + n }
}

describe('a post', () => {
  it('that is in the log but not in series when the process dies is there after the next start', async () => {
    const disk = new MemoryDisk()
    const dying = openMemory({ disk })
    const { log } = { log: dying.tenant('acme').log('broker') }
    for (let n = 0; n < 1200; n++) {
      await log.append(0, entriesOf(readPost('a', at(n), n % 2 === 0 ? { ttl: '1d' } : {}, NOON)))
    }
    await log.append(
      0,
      entriesOf(
        readPost(
          undefined,
          [
            { resource: 'b', ...at(1) },
            { resource: 'b', ...at(2) },
          ],
          {},
          NOON,
        ),
      ),
    )
    await dying.close()
    await using broker = await brokerBench({ storage: openMemory({ disk, clock: () => NOON }) })
    expect(await values(broker)).toEqual(Array.from({ length: 1200 }, (_, n) => n))
    expect(await broker.api.messages.current('a')).toEqual(at(1199))
    expect(await values(broker, 'b')).toEqual([1, 2])
    expect(await broker.api.messages.last('b')).toEqual([])
  })

  it('is refused when series cannot take it, and made good by the next one', async () => {
    const storage = failingStorage(openMemory({ clock: () => NOON }))
    await using broker = await brokerBench({ storage })
    await broker.api.posting.events('a', at(1))
    storage.fates.push(diskFull)
    await expect(broker.api.posting.events('a', at(2))).rejects.toMatchObject({ code: 'STORE' })
    expect(await values(broker)).toEqual([1])
    await broker.api.posting.events('a', at(3))
    expect(await values(broker)).toEqual([1, 2, 3])
  })

  it('behind an entry that series refuse is readable all the same, and the refusal is reported', async () => {
    const storage = failingStorage(openMemory({ clock: () => NOON }))
    await using broker = await brokerBench({ storage })
    storage.fates.push(poisoned)
    await expect(broker.api.posting.events('a', at(1))).rejects.toMatchObject({ code: 'STORE' })
    // the page, and then the bad entry by itself
    storage.fates.push(poisoned, poisoned)
    await broker.api.posting.events('a', at(2))
    expect(await values(broker)).toEqual([2])
    expect(broker.reports).toEqual(["tenant acme: entry 1 of the broker's log is passed over: this cannot be kept"])
  })

  it('behind entries of another host is applied after those', async () => {
    await using broker = await brokerBench()
    await broker.api.posting.events('a', at(1))
    const log = broker.storage.tenant('acme').log('broker')
    await log.append(0, entriesOf(readPost('a', at(2), {}, NOON)))
    await broker.api.posting.events('a', at(3))
    expect(await values(broker)).toEqual([1, 2, 3])
    expect(await broker.storage.tenant('acme').series.applied('broker', 0)).toBe(3)
  })

  it('that the engine refuses leaves no trace', async () => {
    const storage = openMemory()
    const engine = { receive: () => Promise.reject(new Error('the engine is gone')) }
    await using broker = await brokerBench({ storage, engine: () => engine })
    await expect(broker.api.posting.events('a', at(1))).rejects.toThrow('the engine is gone')
    expect(await values(broker)).toEqual([])
    expect((await storage.tenant('acme').log('broker').bounds(0)).last).toBe(0)
    await broker.api.posting.events('a', at(2), { forward: false })
    expect(await values(broker)).toEqual([2])
  })
})

describe('the log', () => {
  it('keeps what was applied for two minutes, and then lets it go', async () => {
    await using broker = await brokerBench()
    const log = broker.storage.tenant('acme').log('broker')
    const sweep = async (): Promise<number> => {
      broker.timers.fire(30_000)
      for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate)
      return (await log.bounds(0)).first
    }
    await broker.api.posting.events('a', at(1))
    expect(await sweep()).toBe(1)
    broker.clock.now += 60_000
    await broker.api.posting.events('a', at(2))
    expect(await sweep()).toBe(1)
    broker.clock.now += 60_000
    expect(await sweep()).toBe(2)
    broker.clock.now += 60_000
    expect(await sweep()).toBe(3)
    await broker.api.posting.events('a', at(3))
    expect(await values(broker)).toEqual([1, 2, 3])
  })
})

describe('discovery', () => {
  it('hears of stored resources before the answer, and its failure is no failure of the post', async () => {
    const seen: string[] = []
    let fails = false
    const discover = async (_tenant: string, resources: readonly { readonly resource: string }[]) => {
      await new Promise(setImmediate)
      if (fails) throw new Error('no room')
      seen.push(...resources.map(({ resource }) => resource))
    }
    await using broker = await brokerBench({ resources: () => ({ discover }) })
    await broker.api.posting.events('a', at(1))
    expect(seen).toEqual(['a'])
    await broker.api.posting.events('b', at(1), { store: false })
    await broker.api.posting.command('c', { name: 'on' })
    expect(seen).toEqual(['a'])
    fails = true
    await broker.api.posting.events('d', at(1))
    expect(broker.reports).toEqual(['tenant acme: resources were not discovered: no room'])
  })

  it('hears of what was read again after a crash', async () => {
    const storage = openMemory()
    await storage
      .tenant('acme')
      .log('broker')
      .append(0, entriesOf(readPost('a', at(1), {}, NOON)))
    const seen: string[] = []
    const discover = (_tenant: string, resources: readonly { readonly resource: string }[]) => {
      seen.push(...resources.map(({ resource }) => resource))
      return undefined
    }
    await using _broker = await brokerBench({ storage, resources: () => ({ discover }) })
    expect(seen).toEqual(['a'])
  })
})

describe('a command', () => {
  it('is committed with what its outbox plans, and the outbox hears of it after the commit', async () => {
    const told: string[] = []
    const storage = openMemory()
    const outbox = storage.tenant('acme').log('outbox')
    const commands = {
      planning: (_tenant: string, resource: string, command: object, hops: number) => [
        outbox.appending(0, [{ resource, command: { ...command }, hops }]),
      ],
      committed: (_tenant: string, resource: string) => void told.push(resource),
    }
    await using broker = await brokerBench({ storage, commands: () => commands })
    await broker.api.posting.command('a', { name: 'on', level: 1 }, { hops: 3 })
    expect(told).toEqual(['a'])
    expect((await outbox.read(0, 0)).map(({ body }) => body)).toEqual([
      { resource: 'a', command: { name: 'on', level: 1, timestamp: NOON }, hops: 3 },
    ])
    expect(broker.engine.messages).toEqual([])
  })
})
