import { expect, it } from 'vitest'
import { SLOT_TABLE, SLOT_TABLES } from '../../../src/cluster/placement/cluster-records.ts'
import { slotOf, SLOTS } from '../../../src/cluster/placement/slots.ts'
import { HOST_TENANT } from '../../../src/host/auth/host-tenant.ts'
import { COUNT_ID, PARTITION_COUNTS } from '../../../src/host/cluster/partition-counts.ts'
import { viewPartitions } from '../../../src/host/cluster/view-partitions.ts'
import type { Json } from '../../../src/kernel/json.ts'
import { partitionStore } from '../../../src/cluster/partitions/partition-store.ts'
import { MARK_ID, MARKS } from '../../../src/log/log-pruner.ts'
import { LOG_NAME } from '../../../src/log/message-entry.ts'
import { RELAY_CURSORS, RELAY_LOG } from '../../../src/services/rules/relay/relay-records.ts'
import type { Storage } from '../../../src/storage/contract.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'

const SECOND = 1_000
const NOTHING = { behind: { messages: 0, ms: 0 }, handed: 0 }

async function cluster(): Promise<{ readonly storage: Storage; readonly now: number }> {
  const storage = openMemory()
  const owners = Array.from({ length: SLOTS }, (_, slot) => (slot === slotOf('acme') ? 'gone' : 'one'))
  const terms = owners.map(() => 1)
  await storage.tenant(HOST_TENANT).collection(SLOT_TABLES).put(SLOT_TABLE, { owners, terms })
  await storage.tenant('acme').collection(PARTITION_COUNTS).put(COUNT_ID, { count: 3 })
  const { ms: now } = await storage.tenant('acme').now()
  return { storage, now }
}

const view = (storage: Storage, tenant?: string) => {
  const host = { version: '1.0.0', replay: 1, slots: 1, seenAgo: 0 }
  const one = { ...host, id: 'one', url: 'http://one', state: 'live' } as const
  const gone = { ...host, id: 'gone', url: 'http://gone', state: 'gone' } as const
  return viewPartitions(storage, { hosts: [one, gone] }, tenant)
}

it('shows the host of each partition of each tenant, and none for one whose host is gone', async () => {
  const { storage } = await cluster()
  expect(await view(storage)).toEqual({
    tenants: [
      {
        tenant: 'acme',
        partitions: [
          { number: 0, host: null, ...NOTHING },
          { number: 1, host: 'http://one', ...NOTHING },
          { number: 2, host: 'http://one', ...NOTHING },
        ],
      },
    ],
    moreTenants: 0,
  })
})

it('counts the messages after what stored states reflect, and how old the first of them is', async () => {
  const { storage, now } = await cluster()
  const store = partitionStore(storage.tenant('acme'), 2)
  const data = (at: number, ...resources: readonly string[]): Json => {
    return { k: 'data', at, m: resources.map((resource) => ({ resource })) }
  }
  await store.collection(MARKS).put(MARK_ID, { position: 1, time: now, later: [] })
  const still: Json = { k: 'still', at: now - 50 * SECOND, since: 0 }
  await store
    .log(LOG_NAME)
    .append(0, [data(now - 90 * SECOND, 'a'), still, data(now - 40 * SECOND, 'a', 'b'), data(now, 'a')])
  const [, , third] = (await view(storage, 'acme')).tenants[0]?.partitions ?? []
  expect(third?.behind.messages).toBe(3)
  expect(third?.behind.ms).toBeGreaterThanOrEqual(40 * SECOND)
  expect(third?.behind.ms).toBeLessThan(50 * SECOND)
})

it('counts later entries like those inspected, of which some have no task', async () => {
  const { storage, now } = await cluster()
  const store = partitionStore(storage.tenant('acme'), 2)
  const taken: Json = { k: 'data', at: now, m: { resource: 'a' } }
  const untaken: Json = { k: 'data', s: 'events', m: { resource: 'b' } }
  await store.log(LOG_NAME).append(
    0,
    Array.from({ length: 3_000 }, (_, n) => (n % 4 === 0 ? taken : untaken)),
  )
  const [, , third] = (await view(storage, 'acme')).tenants[0]?.partitions ?? []
  expect(third?.behind.messages).toBe(750)
})

it('counts relayed messages that its tasks have not processed', async () => {
  const { storage } = await cluster()
  const store = storage.tenant('acme')
  await store.log(RELAY_LOG).append(1, [{}, {}, {}])
  await store.collection(RELAY_CURSORS).put('1', { position: 1 })
  const { tenants } = await view(storage)
  expect(tenants[0]?.partitions.map(({ handed }) => handed)).toEqual([0, 2, 0])
})

it('shows the first hundred tenants, reports how many there are besides, and shows any of them by its name', async () => {
  const { storage } = await cluster()
  for (let n = 0; n < 102; n += 1)
    await storage.tenant(`t${n}`).collection(PARTITION_COUNTS).put(COUNT_ID, { count: 1 })
  const { tenants, moreTenants } = await view(storage)
  expect([tenants.length, tenants[0]?.tenant, moreTenants]).toEqual([100, 'acme', 3])
  expect((await view(storage, 't99')).tenants.map(({ tenant }) => tenant)).toEqual(['t99'])
  await expect(view(storage, 'nobody')).rejects.toMatchObject({ code: 'NOT_FOUND' })
})
