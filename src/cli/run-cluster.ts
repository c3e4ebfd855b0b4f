/** What `cluster` does: it reads what the hosts of a cluster say in their store, and how far their tenants are. */
import { type ClusterView, type HostView, orderDrain, viewCluster } from '#cluster'
import { AppError } from '#kernel'
import { openMemoryBlobs, type Storage } from '#storage'
import { type Environment, OPTIONS, storeOf } from '#host/spi'
import {
  type ClusterPartitions,
  HOST_TENANT,
  type RaisedPartitions,
  raisePartitions,
  viewPartitions,
} from '#host/running'
import { tableLines } from './report/table.ts'
import type { Terminal } from './terminal.ts'

/** Options as the command line gives them. */
export interface ClusterFlags {
  store?: string
  json?: boolean
  /** the one that is shown; absent: the first ones */
  tenant?: string
}

/** What `cluster` shows. */
type WholeView = ClusterView & ClusterPartitions

/** What is asked of a cluster; absent: what there is. */
export type ClusterOrder =
  | { readonly drain: string }
  /** more partitions for a tenant */
  | { readonly tenant: string; readonly partitions: string }

/** `USAGE`, `NOT_FOUND`, `STORE`; for partitions `WRONG_STATUS` and `CONFLICT` besides. */
export async function runCluster(
  order: ClusterOrder | undefined,
  { store: given, json = false, tenant }: ClusterFlags,
  env: Environment,
  terminal: Pick<Terminal, 'out'>,
): Promise<0> {
  const choice = storeOf(given ?? env[OPTIONS.store.env] ?? '')
  if (choice?.medium !== 'postgres') {
    throw new AppError('USAGE', '--store: name the PostgreSQL of the hosts, such as postgres://user@host/database')
  }
  const { openPostgres } = await import('#storage/postgres')
  const storage = await openPostgres({ url: choice.url, blobs: openMemoryBlobs() })
  try {
    const told = await carriedOut(order, storage, tenant)
    terminal.out(`${json ? JSON.stringify(told) : textOf(told)}\n`)
    return 0
  } finally {
    await storage.close()
  }
}

async function carriedOut(
  order: ClusterOrder | undefined,
  storage: Storage,
  tenant: string | undefined,
): Promise<WholeView | HostView | RaisedPartitions> {
  const store = storage.tenant(HOST_TENANT)
  if (order === undefined) {
    const view = await viewCluster(store)
    return { ...view, ...(await viewPartitions(storage, view, tenant)) }
  }
  if ('drain' in order) return orderDrain(store, order.drain)
  return raisePartitions(storage, order.tenant, Number(order.partitions))
}

function textOf(told: WholeView | HostView | RaisedPartitions): string {
  if ('hosts' in told) return [...hostLines(told), ...tenantLines(told)].join('\n')
  if ('url' in told) return `${told.url} gives away what it has; "reflexarc cluster" shows how far it is`
  const { tenant, before, count } = told
  return before === count
    ? `${tenant} has ${count} partitions already`
    : `${tenant} has ${count} partitions now, and had ${before}; tasks that are made from now on are spread over them`
}

function hostLines({ hosts, free }: ClusterView): readonly string[] {
  if (hosts.length === 0) return ['no host of a cluster has this store']
  const rows = hosts.map(({ id, url, version, replay, state, slots, seenAgo }) => [
    id,
    url,
    version,
    String(replay),
    state,
    String(slots),
    `${secondsOf(seenAgo)} ago`,
  ])
  const table = tableLines([['id', 'address', 'version', 'replay', 'state', 'slots', 'seen'], ...rows], new Set([3, 5]))
  return [...table, ...(free === 0 ? [] : [`${free} slots are at no host`])]
}

function tenantLines({ tenants, moreTenants }: ClusterPartitions): readonly string[] {
  if (tenants.length === 0) return []
  const rows = tenants.flatMap(({ tenant, partitions }) =>
    partitions.map(({ number, host, behind, handed }) => [
      tenant,
      String(number),
      host ?? 'none',
      String(behind.messages),
      secondsOf(behind.ms),
      String(handed),
    ]),
  )
  const head = ['tenant', 'partition', 'host', 'behind', 'for', 'handed']
  const more = `${moreTenants} tenants more; --tenant shows one of them`
  return ['', ...tableLines([head, ...rows], new Set([1, 3, 4, 5])), ...(moreTenants === 0 ? [] : [more])]
}

function secondsOf(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
