import { expect, it } from 'vitest'
import { SLOT_TABLE, SLOT_TABLES } from '../../../src/cluster/placement/cluster-records.ts'
import { slotOf, SLOTS } from '../../../src/cluster/placement/slots.ts'
import { HOST_TENANT } from '../../../src/host/auth/host-tenant.ts'
import { viewTenants } from '../../../src/host/cluster/view-tenants.ts'
import type { Json } from '../../../src/kernel/json.ts'
import { MARK_ID, MARKS } from '../../../src/log/log-pruner.ts'
import { LOG_NAME } from '../../../src/log/message-entry.ts'
import type { Storage } from '../../../src/storage/contract.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'

const SECOND = 1_000
const NOTHING = { messages: 0, ms: 0 }

async function cluster(): Promise<{ readonly storage: Storage; readonly now: number }> {
  const storage = openMemory()
  const owners = Array.from({ length: SLOTS }, (_, slot) => (slot === slotOf('acme') ? 'gone' : 'one'))
  const terms = owners.map(() => 1)
  await storage.tenant(HOST_TENANT).collection(SLOT_TABLES).put(SLOT_TABLE, { owners, terms })
  for (const name of ['acme', 'bolt'])
    await storage
      .tenant(name)
      .collection(MARKS)
      .put('other', {} as never)
  const { ms: now } = await storage.tenant('acme').now()
  return { storage, now }
}

const view = (storage: Storage, tenant?: string) => {
  const host = { version: '1.0.0', replay: 1, slots: 1, seenAgo: 0 }
  const one = { ...host, id: 'one', url: 'http://one', state: 'live' } as const
  const gone = { ...host, id: 'gone', url: 'http://gone', state: 'gone' } as const
  return viewTenants(storage, { hosts: [one, gone] }, tenant)
}

it('shows the host of each tenant, and none for one whose host is gone', async () => {
  const { storage } = await cluster()
  expect(await view(storage)).toEqual({
    tenants: [
      { tenant: 'acme', host: null, behind: NOTHING },
      { tenant: 'bolt', host: 'http://one', behind: NOTHING },
    ],
    moreTenants: 0,
  })
})

it('counts the messages after what stored states reflect, and how old the first of them is', async () => {
  const { storage, now } = await cluster()
  const store = storage.tenant('acme')
  const data = (at: number, ...resources: readonly string[]): Json => {
    return { k: 'data', at, m: resources.map((resource) => ({ resource })) }
  }
  await store.collection(MARKS).put(MARK_ID, { position: 1, time: now, later: [] })
  const still: Json = { k: 'still', at: now - 50 * SECOND, since: 0 }
  await store
    .log(LOG_NAME)
    .append([data(now - 90 * SECOND, 'a'), still, data(now - 40 * SECOND, 'a', 'b'), data(now, 'a')])
  const [acme] = (await view(storage, 'acme')).tenants
  expect(acme?.behind.messages).toBe(3)
  expect(acme?.behind.ms).toBeGreaterThanOrEqual(40 * SECOND)
  expect(acme?.behind.ms).toBeLessThan(50 * SECOND)
})

it('counts later entries like those inspected, of which some have no task', async () => {
  const { storage, now } = await cluster()
  const taken: Json = { k: 'data', at: now, m: { resource: 'a' } }
  const untaken: Json = { k: 'data', s: 'events', m: { resource: 'b' } }
  const entries = Array.from({ length: 3_000 }, (_, n) => (n % 4 === 0 ? taken : untaken))
  await storage.tenant('acme').log(LOG_NAME).append(entries)
  const [acme] = (await view(storage, 'acme')).tenants
  expect(acme?.behind.messages).toBe(750)
})

it('shows the first hundred tenants, reports how many there are besides, and shows any of them by its name', async () => {
  const { storage } = await cluster()
  for (let n = 0; n < 101; n += 1)
    await storage
      .tenant(`t${n}`)
      .collection(MARKS)
      .put('other', {} as never)
  const { tenants, moreTenants } = await view(storage)
  expect([tenants.length, tenants[0]?.tenant, moreTenants]).toEqual([100, 'acme', 3])
  expect((await view(storage, 't99')).tenants.map(({ tenant }) => tenant)).toEqual(['t99'])
  await expect(view(storage, 'nobody')).rejects.toMatchObject({ code: 'NOT_FOUND' })
})
