/** Inspects and drains a cluster through its documents, whether or not a host responds. */
import { AppError, retryOnConflict } from '#kernel'
import type { Store } from '#storage'
import { HOST_RECORDS, SLOT_TABLE, SLOT_TABLES, type HostRecord } from './cluster-records.ts'
import { TTL_MS } from './placement.ts'
import { SLOTS } from './slots.ts'

export interface HostView extends Omit<HostRecord, 'isDraining' | 'joined' | 'seen'> {
  readonly id: string
  /** `gone`: silent for so long that other hosts take its slots */
  readonly state: 'live' | 'draining' | 'gone'
  readonly slots: number
  readonly seenAgo: number
}

export interface ClusterView {
  readonly hosts: readonly HostView[]
  readonly free: number
}

export async function viewCluster(store: Store): Promise<ClusterView> {
  const { ms } = await store.now()
  const records = await store.collection(HOST_RECORDS).find({})
  const owners = (await store.collection(SLOT_TABLES).get(SLOT_TABLE))?.value.owners ?? []
  const hosts = records.map(({ id, value: { url, version, replay, seen, isDraining } }): HostView => {
    const isLive = Math.abs(ms - seen) <= TTL_MS
    const state = !isLive ? 'gone' : isDraining ? 'draining' : 'live'
    return { id, url, version, replay, state, slots: owners.filter((owner) => owner === id).length, seenAgo: ms - seen }
  })
  const held = hosts.reduce((sum, { state, slots }) => sum + (state === 'gone' ? 0 : slots), 0)
  return { hosts: hosts.toSorted((a, b) => (a.url < b.url ? -1 : 1)), free: SLOTS - held }
}

/** Makes a host, named by id or address, hand over its slots and accept none until it restarts. Throws `NOT_FOUND`. */
export async function orderDrain(store: Store, host: string): Promise<HostView> {
  const records = store.collection(HOST_RECORDS)
  // the host may write its record at the same time
  return retryOnConflict(async () => {
    const { hosts } = await viewCluster(store)
    const found = hosts.find(({ id, url, state }) => state !== 'gone' && (id === host || url === host))
    const stored = found && (await records.get(found.id))
    if (found === undefined || stored === undefined) {
      const there = hosts.flatMap(({ id, url, state }) => (state === 'gone' ? [] : [`${url} (${id})`]))
      throw new AppError(
        'NOT_FOUND',
        `${JSON.stringify(host.slice(0, 200))} is not a host of the cluster; its hosts: ${there.join(', ') || 'none'}`,
      )
    }
    await records.put(stored.id, { ...stored.value, isDraining: true }, stored.version)
    return { ...found, state: 'draining' as const }
  })
}
