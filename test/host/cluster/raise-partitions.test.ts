import { expect, it } from 'vitest'
import { readCount } from '../../../src/host/cluster/partition-counts.ts'
import { raisePartitions } from '../../../src/host/cluster/raise-partitions.ts'
import { fenceOf } from '../../../src/host/cluster/partition-counts.ts'
import { partitionOf } from '../../../src/cluster/partitions/partition.ts'
import { LISTENERS } from '../../../src/services/rules/relay/relay-records.ts'
import { TASKS, type TaskRecord } from '../../../src/services/rules/tasks/task-record.ts'
import type { Storage, Store } from '../../../src/storage/contract.ts'
import { FENCES, fenceStore, takeFence } from '../../../src/storage/fence-store.ts'
import { openMemory } from '../../../src/storage/memory/open-memory.ts'

const RUNNING = {
  status: 'running',
  resourceIds: ['a', 'b', 'c', 'd'],
  effective: {},
  plugs: [],
} as unknown as TaskRecord

async function storageWithTask(): Promise<Storage> {
  const storage = openMemory()
  await storage.tenant('acme').collection(TASKS).put('t', RUNNING)
  return storage
}

// Holds PARTITIONS-1
it('a running task receives what moves to other partitions, and the former host of the tenant is fenced off', async () => {
  const storage = await storageWithTask()
  const store = storage.tenant('acme')
  const owner = fenceStore(store, await takeFence(store, fenceOf(0), { holder: 'a', term: 3 }))
  expect(await raisePartitions(storage, 'acme', 4)).toEqual({ tenant: 'acme', before: 1, count: 4 })
  await expect(owner.collection(TASKS).put('t', RUNNING)).rejects.toMatchObject({ code: 'FENCED' })
  const heard = (await store.collection(LISTENERS).find({})).map(({ value }) => value)
  const moved = ['a', 'b', 'c', 'd'].filter((resource) => partitionOf(resource, 4) !== 0)
  expect(heard.map(({ resource }) => resource).sort()).toEqual(moved)
  expect(heard.every(({ resource, home, by }) => home === partitionOf(resource, 4) && by === 0)).toBe(true)
  // the same host takes the tenant again
  expect(await takeFence(store, fenceOf(0), { holder: 'a', term: 3 })).toMatchObject({ term: 3 })
})

// Holds PARTITIONS-1
it('a host that takes the tenant over during each attempt leaves it unchanged', async () => {
  const storage = await storageWithTask()
  const store = storage.tenant('acme')
  await takeFence(store, fenceOf(0), { holder: 'a', term: 3 })
  const taking = takenOver(storage, Number.POSITIVE_INFINITY)
  await expect(raisePartitions(taking, 'acme', 4)).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringContaining('retry when the hosts of the cluster are stable') as string,
  })
  expect(await readCount(store)).toBe(1)
  const fences = await store.collection(FENCES).find({})
  expect(fences.map(({ value }) => [value.holder, Number.isInteger(value.term)])[0]).toEqual(['b', true])
  expect(fences.every(({ value }) => Number.isInteger(value.term))).toBe(true)
})

/** Returns a storage where another host takes the tenant over while tasks are read, the first `times` times. */
function takenOver(storage: Storage, times: number): Storage {
  let term = 3
  const take = async (store: Store): Promise<void> => {
    if (term < 3 + times) await takeFence(store, fenceOf(0), { holder: 'b', term: ++term })
  }
  return {
    ...storage,
    tenants: () => storage.tenants(),
    tenant: (id) => tenantTakenAt(storage.tenant(id), take),
  }
}

function tenantTakenAt(store: Store, take: (store: Store) => Promise<void>): Store {
  return new Proxy(store, {
    get: (target, name) => {
      if (name === 'collection') {
        return (spec: Parameters<Store['collection']>[0]) => {
          const collection = target.collection(spec)
          if (spec.name !== TASKS.name) return collection
          return Object.assign(Object.create(collection) as typeof collection, {
            find: async (...question: Parameters<typeof collection.find>) => {
              await take(target)
              return collection.find(...question)
            },
          })
        }
      }
      const member: unknown = Reflect.get(target, name)
      return typeof member === 'function' ? (member.bind(target) as unknown) : member
    },
  })
}
