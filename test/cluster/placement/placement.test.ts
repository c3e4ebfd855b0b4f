import { beforeEach, describe, expect, it } from 'vitest'
import { HOST_RECORDS } from '../../../src/cluster/placement/cluster-records.ts'
import { TTL_MS } from '../../../src/cluster/placement/placement.ts'
import { SLOTS } from '../../../src/cluster/placement/slots.ts'
import { ModelCluster } from './model-cluster.ts'

// Holds PLACEMENT-2, PLACEMENT-3, PLACEMENT-4, PLACEMENT-5
describe('who has which slots', () => {
  let cluster: ModelCluster

  beforeEach(async () => {
    cluster = new ModelCluster()
    cluster.join(0)
    await cluster.settle()
  })

  it('the first host has all', () => {
    expect(cluster.placementOf(0).owned).toBe(SLOTS)
  })

  it('a host that joins gets its share, and what moves is finished before: PLACEMENT-3', async () => {
    const tenants = Array.from({ length: 20 }, (_, n) => `tenant-${n}`)
    for (const tenant of tenants) expect(await cluster.writeAnywhere(tenant)).toBe(true)
    cluster.join(1)
    await cluster.lookAll(3)
    expect([cluster.placementOf(0).owned, cluster.placementOf(1).owned]).toEqual([SLOTS / 2, SLOTS / 2])
    const moved = tenants.filter((tenant) => cluster.placementOf(1).of(tenant).kind === 'here')
    expect(moved.length).toBeGreaterThan(0)
    for (const tenant of moved) {
      expect(cluster.placementOf(0).of(tenant)).toMatchObject({ kind: 'elsewhere' })
      expect(await cluster.closed(tenant)).toEqual([{ id: 'host-0-1', term: 1 }])
    }
  })

  it('what a dead host had is taken after the time to live, not before: PLACEMENT-2', async () => {
    cluster.join(1)
    await cluster.lookAll(3)
    cluster.crash(0)
    cluster.pass(TTL_MS)
    await cluster.lookAll(2)
    expect(cluster.placementOf(1).owned).toBe(SLOTS / 2)
    cluster.pass(1)
    await cluster.lookAll(2)
    expect(cluster.placementOf(1).owned).toBe(SLOTS)
  })

  it('where the store reports who is there, a dead host is gone at the second look, and one that comes back is not', async () => {
    cluster.isTelling = true
    cluster.join(1)
    await cluster.lookAll(3)
    cluster.miss(0)
    await cluster.lookOne(1)
    expect([cluster.placementOf(1).owned, cluster.placementOf(1).isUnsure]).toEqual([SLOTS / 2, true])
    cluster.miss(0)
    await cluster.lookOne(1)
    expect([cluster.placementOf(1).owned, cluster.placementOf(1).isUnsure]).toEqual([SLOTS / 2, false])
    cluster.crash(0)
    await cluster.lookOne(1)
    await cluster.lookOne(1)
    expect(cluster.placementOf(1).owned).toBe(SLOTS)
  })

  it('each host has a neighbour to watch, in one circle of all', async () => {
    expect(cluster.placementOf(0).neighbour).toBeUndefined()
    cluster.join(1)
    cluster.join(2)
    await cluster.lookAll(3)
    const neighbours = [0, 1, 2].map((number) => cluster.placementOf(number).neighbour)
    expect(neighbours).toEqual(['host-1-2', 'host-2-3', 'host-0-1'])
  })

  it('who could not look for as long takes nothing for its own until it has looked: PLACEMENT-4', async () => {
    expect(cluster.placementOf(0).of('acme')).toEqual({ kind: 'here', term: 1 })
    cluster.pass(TTL_MS + 1)
    expect(cluster.placementOf(0).of('acme')).toEqual({ kind: 'unowned', term: 1 })
    await cluster.lookAll(1)
    expect(cluster.placementOf(0).of('acme')).toEqual({ kind: 'here', term: 1 })
  })

  it('a host that stood still changes nothing of what others took over', async () => {
    expect(await cluster.writeAnywhere('acme')).toBe(true)
    cluster.join(1)
    await cluster.settle()
    cluster.freeze(0)
    cluster.write(0, 'acme')
    await cluster.passUntilGone()
    await cluster.lookAll(2)
    expect(await cluster.writeAnywhere('acme')).toBe(true)
    cluster.wake(0)
    cluster.write(0, 'acme')
    await cluster.settle()
    expect((await cluster.written('acme')).map(({ id }) => id)).toEqual(['host-0-1', 'host-1-2'])
  })

  it('a host that leaves is not waited for', async () => {
    cluster.join(1)
    await cluster.lookAll(3)
    await cluster.placementOf(0).leave()
    await cluster.lookAll(1)
    expect(cluster.placementOf(1).owned).toBe(SLOTS)
  })

  it('another host may drain a host: it releases all slots, and still answers where they are', async () => {
    cluster.join(1)
    await cluster.lookAll(3)
    const records = cluster.store.collection(HOST_RECORDS)
    const own = await records.get('host-0-1')
    if (own !== undefined) await records.put(own.id, { ...own.value, isDraining: true }, own.version)
    await cluster.lookAll(3)
    expect([cluster.placementOf(0).owned, cluster.placementOf(1).owned]).toEqual([0, SLOTS])
    expect(cluster.placementOf(0).of('acme')).toMatchObject({ kind: 'elsewhere', url: 'http://host-1-2' })
  })

  it('the last host keeps what it has, drained or not', async () => {
    cluster.drain(0)
    await cluster.lookAll(2)
    expect(cluster.placementOf(0).of('acme')).toEqual({ kind: 'here', term: 1 })
  })

  it('hosts with a higher replay number take slots when the last with the lower one is gone, for good: PLACEMENT-5', async () => {
    cluster.join(1)
    await cluster.lookAll(3)
    cluster.join(2, 2)
    cluster.join(3, 2)
    cluster.drain(0)
    await cluster.lookAll(3)
    expect([0, 1, 2, 3].map((host) => cluster.placementOf(host).owned)).toEqual([0, SLOTS, 0, 0])
    cluster.crash(0)
    cluster.freeze(1)
    cluster.pass(TTL_MS)
    for (const host of [2, 3]) await cluster.lookOne(host)
    cluster.pass(1)
    await cluster.lookOne(2)
    expect(cluster.placementOf(2).owned).toBe(SLOTS / 2)
    // it wakes while some of its slots are nobody's yet
    cluster.wake(1)
    await cluster.lookOne(1)
    expect(cluster.placementOf(1).owned).toBe(0)
    await cluster.lookAll(3)
    cluster.join(4, 1)
    await cluster.lookAll(3)
    expect([1, 2, 3, 4].map((host) => cluster.placementOf(host).owned)).toEqual([0, SLOTS / 2, SLOTS / 2, 0])
  })
})
