/** Tests that acknowledged messages survive whatever happens between the log and the series (BROKER-1, BROKER-2). */
import { describe, expect, it, vi } from 'vitest'
import { AppError } from '../../../src/kernel/errors.ts'
import { TenantLog } from '../../../src/log/tenant-log.ts'
import type { Forwarding } from '../../../src/services/broker/contract.ts'
import { entriesOf } from '../../../src/services/broker/posting/log-entry.ts'
import { readPost } from '../../../src/services/broker/posting/read-post.ts'
import type { Series } from '../../../src/storage/contract.ts'
import { MemoryDisk } from '../../../src/storage/memory/memory-disk.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { deferred } from '../../support/deferred.ts'
import { brokerBench, NOON, TakingEngine, type BrokerBench } from './support/bench-of-broker.ts'

async function values(broker: BrokerBench, resource = 'a'): Promise<readonly unknown[]> {
  await broker.service.readable()
  const { series } = broker.storage.tenant('acme')
  return (await series.range({ resources: [resource], metric: 'n' })).map(({ value }) => value)
}

type Batch = Parameters<Series['append']>[0]

/**
 * Creates a broker whose series can fail, as if the process died or the disk filled up between log and series. `fates`:
 * outcomes of the next appends, in order; further appends succeed.
 */
async function failingBench(lag: { posts?: number } = {}) {
  const storage = openMemory({ clock: () => NOON })
  const store = storage.tenant('acme')
  const { series } = store
  const append = series.append.bind(series)
  const fates: ((batch: Batch) => void | Promise<void>)[] = []
  vi.spyOn(storage, 'tenant').mockReturnValue(store)
  vi.spyOn(series, 'append').mockImplementation(async (batch) => {
    await fates.shift()?.(batch)
    await append(batch)
  })
  return Object.assign(await brokerBench({ storage, lag }), { storage, fates })
}

function diskFull(): never {
  throw new AppError('STORE', 'no room')
}

function poisoned(): never {
  throw new AppError('VALIDATION', 'this cannot be kept')
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate)
}

function at(n: number): { n: number; timestamp: number } {
  return { n, timestamp: NOON + n }
}

// Holds PROJECTOR-1 to PROJECTOR-4, INGEST-4, INGEST-5
describe('a post', () => {
  it('that is in the log but not in series when the process is killed is there after the next start', async () => {
    const disk = new MemoryDisk()
    const dying = openMemory({ disk })
    const log = dying.tenant('acme').log('log')
    for (let n = 0; n < 1200; n++) {
      await log.append(entriesOf(readPost('a', at(n), n % 2 === 0 ? { ttl: '1d' } : {}, NOON)))
    }
    const twice = [1, 2].map((n) => ({ resource: 'b', ...at(n) }))
    await log.append(entriesOf(readPost(undefined, twice, {}, NOON)))
    await dying.close()
    await using broker = await brokerBench({ storage: openMemory({ disk, clock: () => NOON }) })
    expect(await values(broker)).toEqual(Array.from({ length: 1200 }, (_, n) => n))
    expect(await broker.api.messages.current('a')).toEqual(at(1199))
    expect(await values(broker, 'b')).toEqual([1, 2])
    expect(await broker.api.messages.last('b')).toEqual([])
  })

  it('is acknowledged before series have it, and readers wait until they do', async () => {
    await using broker = await failingBench()
    const { storage, fates } = broker
    const gate = deferred()
    fates.push(() => gate.promise)
    const { api, service } = broker
    await api.posting.events('a', at(0))
    expect(await storage.tenant('acme').series.latest('a')).toEqual([])
    const order: string[] = []
    const reads = [
      api.messages.current('a').then(({ timestamp }) => order.push(`current ${timestamp - NOON}`)),
      api.messages.last('a').then(({ length }) => order.push(`last ${length}`)),
      api.messages.query({ resources: ['a'] }).then(({ results }) => order.push(`query ${results.length}`)),
      api.series.get('a', 'n').then(({ series }) => order.push(`get ${series.length}`)),
      api.series.raw('a', 'n').then(({ series }) => order.push(`raw ${series.length}`)),
      api.series.latest('a', 'n').then(({ series }) => order.push(`latest ${series.length}`)),
      api.series.list('a').then(({ length }) => order.push(`list ${length}`)),
      api.series.query({ resources: ['a'], metric: 'n' }).then(() => order.push('series query')),
      service.readable().then(() => order.push('readable')),
    ]
    await turns(5)
    order.push('written')
    gate.resolve()
    await Promise.all(reads)
    expect(order[0]).toBe('written')
    expect(order.slice(1).toSorted()).toEqual(
      ['current 0', 'get 1', 'last 1', 'latest 1', 'list 1', 'query 1', 'raw 1', 'readable', 'series query'].toSorted(),
    )
  })

  it('can be read while others are posted without end', async () => {
    await using broker = await brokerBench()
    const read = new AbortController()
    const posting = (async () => {
      for (let n = 1; !read.signal.aborted && n < 10_000; n++) await broker.api.posting.events('b', at(n))
      return read.signal.aborted
    })()
    await broker.api.posting.events('a', at(0))
    expect(await broker.api.messages.current('a')).toEqual(at(0))
    read.abort()
    expect(await posting).toBe(true)
  })

  it('is removed by a removal after its acknowledgement', async () => {
    await using broker = await brokerBench()
    await broker.api.posting.events('a', at(1))
    await broker.api.series.remove({ resource: 'a' })
    expect(await values(broker)).toEqual([])
    await expect(broker.api.messages.current('a')).rejects.toMatchObject({ code: 'NOT_FOUND' })
  })

  it('waits for its answer when too much is acknowledged and not readable', async () => {
    await using broker = await failingBench({ posts: 2 })
    const { fates } = broker
    const gate = deferred()
    fates.push(() => gate.promise)
    const answered: number[] = []
    const posts: Promise<unknown>[] = []
    for (const n of [1, 2, 3]) {
      posts.push(broker.api.posting.events('a', at(n)).then(() => answered.push(n)))
      await turns(5)
    }
    expect(answered).toEqual([1, 2])
    gate.resolve()
    await Promise.all(posts)
    expect(answered).toEqual([1, 2, 3])
    expect(await values(broker)).toEqual([1, 2, 3])
  })

  it('that series could not take is tried again by a reader, by a sweep, and with the next post', async () => {
    await using broker = await failingBench()
    const { storage, fates } = broker
    fates.push(diskFull, diskFull, diskFull)
    const left = async () => {
      await turns(20)
      return fates.length
    }
    await broker.api.posting.events('a', at(1))
    expect(await left()).toBe(2)
    await expect(broker.api.messages.current('a')).rejects.toMatchObject({ code: 'STORE' })
    expect(await left()).toBe(1)
    broker.timers.fire(30_000)
    expect(await left()).toBe(0)
    await broker.api.posting.events('a', at(2))
    await turns(20)
    const { series } = storage.tenant('acme')
    expect((await series.range({ resources: ['a'], metric: 'n' })).map(({ value }) => value)).toEqual([1, 2])
  })

  it('is rejected when series could not be written for long, and taken when they can', async () => {
    await using broker = await failingBench({ posts: 2 })
    const { fates } = broker
    fates.push(diskFull, diskFull, diskFull)
    await broker.api.posting.events('a', at(1))
    await turns(5)
    await broker.api.posting.events('a', at(2))
    await turns(5)
    await expect(broker.api.posting.events('a', at(3))).rejects.toMatchObject({ code: 'STORE' })
    await turns(5)
    expect(await values(broker)).toEqual([1, 2])
    await broker.api.posting.events('a', at(4))
    expect(await values(broker)).toEqual([1, 2, 4])
  })

  it('behind an entry that series reject is readable anyway, and the rejection is reported', async () => {
    await using broker = await failingBench()
    const { fates } = broker
    // fails three times: for the batch, for the page of the log, and for the bad entry alone
    fates.push(poisoned, poisoned, poisoned)
    await broker.api.posting.events('a', at(1))
    await broker.api.posting.events('a', at(2))
    expect(await values(broker)).toEqual([2])
    expect(broker.reports).toEqual(['tenant acme: entry 1 of the log is skipped: this cannot be kept'])
  })

  it('that shares a unit with one that series reject is readable, and the rejected one is reported', async () => {
    await using broker = await failingBench()
    const { storage, fates } = broker
    // fails three times: for the batch, for the page of the log, and for the bad entry alone
    fates.push(poisoned, poisoned, poisoned)
    const resources = ['a', 'b', 'c']
    await Promise.all(resources.map((resource, n) => broker.api.posting.events(resource, at(n))))
    expect((await storage.tenant('acme').log('log').bounds()).last).toBe(3)
    expect([await values(broker, 'a'), await values(broker, 'b'), await values(broker, 'c')]).toEqual([[], [1], [2]])
    expect(broker.reports).toEqual(['tenant acme: entry 1 of the log is skipped: this cannot be kept'])
    expect(await storage.tenant('acme').series.applied('log')).toBe(3)
  })

  it('is rejected alone after few commits, if it came with many', async () => {
    const storage = openMemory({ clock: () => NOON })
    const log = new TenantLog(storage.tenant('acme'))
    const engine = new TakingEngine(log)
    let commits = 0
    const refusing: Forwarding = {
      receive: async (posts, ...rest) => {
        commits++
        if (posts.some(({ messages }) => messages[0]?.resource === 'r20'))
          throw new AppError('VALIDATION', 'one is wrong')
        return engine.receive(posts, ...rest)
      },
    }
    await using broker = await brokerBench({ storage, log, engine: () => refusing })
    const sent = Array.from({ length: 31 }, (_, n) => broker.api.posting.events(`r${n}`, at(n)))
    const outcomes = await Promise.allSettled(sent)
    expect(outcomes.flatMap(({ status }, n) => (status === 'rejected' ? [n] : []))).toEqual([20])
    expect(commits).toBeLessThanOrEqual(1 + 2 * Math.ceil(Math.log2(31)))
  })

  it('is refused for its own sake alone when it came with others', async () => {
    const storage = openMemory({ clock: () => NOON })
    const log = new TenantLog(storage.tenant('acme'))
    const engine = new TakingEngine(log)
    const refusing: Forwarding = {
      receive: async (posts, ...rest) => {
        if (posts.some(({ messages }) => messages[0]?.resource === 'b'))
          throw new AppError('VALIDATION', 'one is wrong')
        return engine.receive(posts, ...rest)
      },
    }
    await using broker = await brokerBench({ storage, log, engine: () => refusing })
    const posts = ['a', 'b', 'c'].map((resource, n) => broker.api.posting.events(resource, at(n)))
    expect((await Promise.allSettled(posts)).map(({ status }) => status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
    ])
    expect(await values(broker, 'a')).toEqual([0])
    expect(await values(broker, 'b')).toEqual([])
    expect(await values(broker, 'c')).toEqual([2])
    expect(engine.messages.map(({ resource }) => resource)).toEqual(['a', 'c'])
  })

  it('behind entries of another host is applied after those', async () => {
    await using broker = await brokerBench()
    await broker.api.posting.events('a', at(1))
    const log = broker.storage.tenant('acme').log('log')
    await log.append(entriesOf(readPost('a', at(2), {}, NOON)))
    await broker.api.posting.events('a', at(3))
    expect(await values(broker)).toEqual([1, 2, 3])
    expect(await broker.storage.tenant('acme').series.applied('log')).toBe(3)
  })

  it('that the engine rejects leaves no trace', async () => {
    const storage = openMemory()
    const engine = { receive: () => Promise.reject(new Error('the engine is gone')) }
    await using broker = await brokerBench({ storage, engine: () => engine })
    await expect(broker.api.posting.events('a', at(1))).rejects.toThrow('the engine is gone')
    expect(await values(broker)).toEqual([])
    expect((await storage.tenant('acme').log('log').bounds()).last).toBe(0)
    await broker.api.posting.events('a', at(2), { forward: false })
    expect(await values(broker)).toEqual([2])
  })
})

describe('the log', () => {
  it('keeps what was applied for two minutes, and then lets all go but the newest', async () => {
    await using broker = await brokerBench()
    const log = broker.storage.tenant('acme').log('log')
    const sweep = async (): Promise<number> => {
      broker.timers.fire(30_000)
      await turns(20)
      return (await log.bounds()).first
    }
    await broker.api.posting.events('a', at(1))
    expect(await sweep()).toBe(1)
    broker.timers.elapsed += 60_000
    // setting the clock forward does not count as two elapsed minutes
    broker.clock.now += 3_600_000
    await broker.api.posting.events('a', at(2))
    expect(await sweep()).toBe(1)
    broker.timers.elapsed += 60_000
    expect(await sweep()).toBe(2)
    broker.timers.elapsed += 60_000
    expect(await sweep()).toBe(2)
    await broker.api.posting.events('a', at(3))
    expect(await values(broker)).toEqual([1, 2, 3])
    await sweep()
    broker.timers.elapsed += 120_000
    expect(await sweep()).toBe(3)
  })
})

describe('discovery', () => {
  it('observes stored resources before the answer, and its failure is not a failure of the post', async () => {
    const seen: string[] = []
    let fails = false
    const discover = async (resources: readonly { readonly resource: string }[]) => {
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

  it('observes what was read again after a crash', async () => {
    const storage = openMemory()
    await storage
      .tenant('acme')
      .log('log')
      .append(entriesOf(readPost('a', at(1), {}, NOON)))
    const seen: string[] = []
    const discover = (resources: readonly { readonly resource: string }[]) => {
      seen.push(...resources.map(({ resource }) => resource))
      return undefined
    }
    await using _broker = await brokerBench({ storage, resources: () => ({ discover }) })
    expect(seen).toEqual(['a'])
  })
})

describe('a command', () => {
  it('is committed with what its outbox plans, and the outbox observes it after the commit', async () => {
    const told: string[] = []
    const storage = openMemory()
    const outbox = storage.tenant('acme').log('outbox')
    const commands = {
      planning: (resource: string, command: object, hops: number) => [
        outbox.appending([{ resource, command: { ...command }, hops }]),
      ],
      committed: (resource: string) => void told.push(resource),
    }
    await using broker = await brokerBench({ storage, commands: () => commands })
    await broker.api.posting.command('a', { name: 'on', level: 1 }, { hops: 3 })
    expect(told).toEqual(['a'])
    expect((await outbox.read(0)).map(({ body }) => body)).toEqual([
      { resource: 'a', command: { name: 'on', level: 1, timestamp: NOON }, hops: 3 },
    ])
    expect(broker.engine.messages).toEqual([])
  })
})
