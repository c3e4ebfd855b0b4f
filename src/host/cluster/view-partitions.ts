/**
 * Reads from the store of a cluster which hosts own the partitions, and how far their tasks are behind acknowledged
 * messages, even if no host responds.
 */
import { type ClusterView, partitionName, partitionStore, SLOT_TABLE, SLOT_TABLES, slotOf } from '#cluster'
import { AppError } from '#kernel'
import { LOG_NAME, MARK_ID, MARKS, PARTITION } from '#log'
import { inputOf, messagesOf, RELAY_CURSORS, RELAY_LOG } from '#services/rules'
import type { Storage, Store } from '#storage'
import { HOST_TENANT } from '../auth/host-tenant.ts'
import { readCount } from './partition-counts.ts'

/** Number of tenants shown by default */
const MAX_TENANTS = 100
const AT_ONCE = 4
/** Number of log entries inspected; later ones count like these on average */
const LOOKED_INTO = 1_000

export interface PartitionView {
  readonly number: number
  /** Address of the live owner; null if the partition has none */
  readonly host: string | null
  readonly behind: {
    readonly messages: number
    /** Age of the oldest unprocessed message; 0 if all are processed */
    readonly ms: number
  }
  readonly handed: number
}

export interface TenantView {
  readonly tenant: string
  readonly partitions: readonly PartitionView[]
}

export interface ClusterPartitions {
  readonly tenants: readonly TenantView[]
  readonly moreTenants: number
}

/** Returns one tenant, or the first `MAX_TENANTS`. Throws `NOT_FOUND` for an unknown tenant. */
export async function viewPartitions(
  storage: Storage,
  { hosts }: Pick<ClusterView, 'hosts'>,
  tenant?: string,
): Promise<ClusterPartitions> {
  const all = (await storage.tenants()).filter((one) => !one.startsWith('_'))
  if (tenant !== undefined && !all.includes(tenant)) {
    throw new AppError('NOT_FOUND', `the tenant ${JSON.stringify(tenant.slice(0, 100))} does not exist in the store`)
  }
  const shown = tenant === undefined ? all.toSorted().slice(0, MAX_TENANTS) : [tenant]
  const table = await storage.tenant(HOST_TENANT).collection(SLOT_TABLES).get(SLOT_TABLE)
  const there = new Map(hosts.flatMap(({ id, url, state }) => (state === 'gone' ? [] : [[id, url] as const])))
  const hostOf = (name: string): string | null => there.get(table?.value.owners[slotOf(name)] ?? '') ?? null
  const views = new Map<string, TenantView>()
  const waiting = [...shown]
  const viewNext = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      views.set(next, await viewTenant(storage.tenant(next), next, hostOf))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, viewNext))
  return { tenants: shown.flatMap((one) => views.get(one) ?? []), moreTenants: all.length - shown.length }
}

async function viewTenant(store: Store, tenant: string, hostOf: (name: string) => string | null): Promise<TenantView> {
  const [count, { ms: now }] = await Promise.all([readCount(store), store.now()])
  const partitions: PartitionView[] = []
  for (let number = 0; number < count; number += 1) {
    const [behind, handed] = await Promise.all([behindOf(partitionStore(store, number), now), handedTo(store, number)])
    partitions.push({ number, host: hostOf(partitionName(tenant, number)), behind, handed })
  }
  return { tenant, partitions }
}

async function behindOf(store: Store, now: number): Promise<PartitionView['behind']> {
  const log = store.log(LOG_NAME)
  const after = (await store.collection(MARKS).get(MARK_ID))?.value.position ?? 0
  const [entries, { last }] = await Promise.all([log.read(PARTITION, after, LOOKED_INTO), log.bounds(PARTITION)])
  const inputs = entries.flatMap(({ body }) => inputOf(body) ?? [])
  const data = inputs.flatMap((input) =>
    input.k === 'data' ? [{ at: input.at, count: messagesOf(input.m).length }] : [],
  )
  const rest = Math.max(0, last - (entries.at(-1)?.position ?? last))
  const inspected = data.reduce((sum, { count }) => sum + count, 0)
  const messages = Math.round(inspected * (1 + rest / Math.max(1, entries.length)))
  const [oldest] = data
  const at = oldest?.at ?? (rest > 0 ? inputs.at(-1)?.at : undefined)
  // the host's clock may be ahead of the store's
  return { messages, ms: at === undefined ? 0 : Math.max(0, now - at) }
}

async function handedTo(store: Store, number: number): Promise<number> {
  const cursor = await store.collection(RELAY_CURSORS).get(String(number))
  const { last } = await store.log(RELAY_LOG).bounds(number)
  return Math.max(0, last - (cursor?.value.position ?? 0))
}
