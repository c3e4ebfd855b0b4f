import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { dataPort, latestValue } from '../../../src/host/wiring/broker.ts'
import type { Cause, DataPort } from '../../../src/core/ports.ts'
import type { InternalBroker, Forwarding } from '../../../src/services/broker/contract.ts'
import { createBrokerService } from '../../../src/services/broker/service.ts'
import type { Storage } from '../../../src/storage/contract.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'
import { TenantLog } from '../../../src/log/tenant-log.ts'
import { TakingEngine } from '../../services/broker/support/bench-of-broker.ts'

const NOW = 1_700_000_000_000
const BOTH = { store: true, forward: true }

type Received = Parameters<Forwarding['receive']>[0]

let storage: Storage
let broker: InternalBroker
let received: Received[]
let data: DataPort
/** Called when a rule handles a message, before the poster gets a response */
let woken: () => void
let isAway: boolean
beforeEach(async () => {
  storage = openMemory({ clock: () => NOW })
  received = []
  woken = () => undefined
  isAway = false
  const store = storage.tenant('acme')
  const log = new TenantLog(store)
  const taking = new TakingEngine(log)
  const engine: Forwarding = {
    receive: async (posts, writes, followed) => {
      received.push(posts)
      if (isAway) throw new Error('no engine')
      await taking.receive(posts, writes, (place) => {
        woken()
        followed(place)
      })
    },
  }
  broker = createBrokerService({
    tenant: 'acme',
    store,
    log,
    now: () => NOW,
    engine: () => engine,
    every: () => () => undefined,
  })
  await broker.start()
  data = dataPort('acme', () => broker)
})
afterEach(async () => {
  await broker.stop()
  await storage.close()
})

function cause(effect: string, hops = 1): Cause {
  return { task: 't', node: 'n', effect, hops }
}

describe('calls of the broker by plugs', () => {
  it('is stored, and read at once', async () => {
    await data.post('r', { t: 21 }, BOTH, cause('1'))
    expect(await data.latest('r')).toEqual([{ metric: 't', time: NOW, value: 21 }])
    expect(await data.messages('r', 5)).toEqual([{ t: 21, timestamp: NOW }])
    expect(await data.series({ metric: 't', resources: ['r'], aggregates: ['sum'], until: NOW + 1 })).toMatchObject({
      query: { metric: 't' },
      series: expect.arrayContaining([expect.arrayContaining([21])]) as unknown,
    })
  })

  it('notifies the engine how many rules led to a message', async () => {
    await data.post('r', { t: 21 }, { store: false, forward: true }, cause('1', 3))
    expect(received).toMatchObject([[{ messages: [{ resource: 'r', t: 21 }], hops: 3 }]])
    expect(await data.messages('r', 5)).toEqual([])
  })

  it('stores without forwarding', async () => {
    await data.post('r', { t: 21 }, { store: true, forward: false }, cause('1'))
    expect(received).toEqual([])
    expect(await data.messages('r', 5)).toHaveLength(1)
  })

  it('has the message that woke the rule, which comes before the answer to its poster', async () => {
    const found: unknown[] = []
    woken = () => {
      found.push(data.latest('r'), data.messages('r', 1), latestValue('acme', () => broker)('r', 't'))
    }
    await broker.as({ tenant: 'acme', user: 'me' }).posting.events('r', { t: 21 })
    expect(await Promise.all(found)).toEqual([[{ metric: 't', time: NOW, value: 21 }], [{ t: 21, timestamp: NOW }], 21])
  })

  it('does not wait for a post that was rejected', async () => {
    const settled = (effect: string, hops: number) =>
      Promise.allSettled([data.post('r', { t: 21 }, BOTH, cause(effect, hops))])
    const refused = settled('1', 17)
    expect(await data.latest('r')).toEqual([])
    isAway = true
    const failed = settled('1', 1)
    await data.latest('r')
    const ends = [...(await refused), ...(await failed)]
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  })

  it('ends when too many rules are in a row', async () => {
    await data.post('r', { t: 21 }, BOTH, cause('1', 16))
    await expect(data.post('r', { t: 21 }, BOTH, cause('2', 17))).rejects.toMatchObject({ code: 'VALIDATION' })
  })

  it('does the work of one execution once, however often it is repeated', async () => {
    await data.post('r', { t: 21 }, BOTH, cause('1'))
    await data.post('r', { t: 21 }, BOTH, cause('1'))
    expect(await data.messages('r', 5)).toHaveLength(1)
    await expect(data.post('r', { t: 22 }, BOTH, cause('1'))).rejects.toMatchObject({ code: 'CONFLICT' })
  })

  it('rejects what a task did too late to a resource, message or command, and after a restart too', async () => {
    const at = (input: number): Cause => cause(`t/1/${input}/0`)
    await data.post('r', { t: 2 }, BOTH, at(2))
    await data.command('r', { name: 'open' }, at(4))
    const late = { code: 'SUPERSEDED' }
    await expect(data.post('r', { t: 1 }, BOTH, at(1))).rejects.toMatchObject(late)
    await expect(data.post('r', { t: 3 }, { store: false, forward: true }, at(3))).rejects.toMatchObject(late)
    await broker.stop()
    broker = createBrokerService({
      tenant: 'acme',
      store: storage.tenant('acme'),
      now: () => NOW,
      every: () => () => undefined,
    })
    await broker.start()
    await expect(data.command('r', { name: 'close' }, at(3))).rejects.toMatchObject(late)
    expect(await data.messages('r', 5)).toEqual([{ t: 2, timestamp: NOW }])
    // a repeated effect, another resource or another task may come in any order
    await data.command('r', { name: 'open' }, at(4))
    await data.post('other', { t: 1 }, BOTH, at(3))
    await data.post('r', { t: 1 }, BOTH, { ...at(3), task: 'u', effect: 'u/1/3/0' })
    await data.post('r', { t: 0 }, BOTH, { ...cause('t/1/1/1'), unordered: true })
    expect(await data.messages('r', 5)).toHaveLength(3)
  })

  it('sends commands', async () => {
    const sent = await data.command('r', { name: 'open', by: 3 }, cause('1'))
    expect(sent).toEqual({ name: 'open', by: 3, timestamp: NOW })
    const { messages } = broker.as({ tenant: 'acme', user: 'me' })
    expect(await messages.last('r', 'commands')).toEqual([{ name: 'open', by: 3, timestamp: NOW }])
  })

  it('is one series at a time', async () => {
    await expect(data.series([] as never)).rejects.toThrow('one series at a time')
  })

  it('is rejected while no broker is served', async () => {
    await expect(dataPort('acme', () => undefined).latest('r')).rejects.toMatchObject({ code: 'CLOSED' })
  })
})

describe('the last value of a metric', () => {
  it('is what was stored last', async () => {
    await data.post('r', { t: 20, timestamp: NOW - 5 }, BOTH, cause('1'))
    await data.post('r', { t: 21, timestamp: NOW - 9 }, BOTH, cause('2'))
    expect(await latestValue('acme', () => broker)('r', 't')).toBe(20)
  })

  it('is undefined when there is none, and when no broker is served', async () => {
    expect(await latestValue('acme', () => broker)('r', 't')).toBeUndefined()
    expect(await latestValue('acme', () => undefined)('r', 't')).toBeUndefined()
  })
})
