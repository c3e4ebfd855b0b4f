/** What `cluster` does: it reads what the hosts of a cluster say in their store. */
import { orderDrain, viewCluster, type ClusterView } from '../../cluster/cluster-view.ts'
import { AppError } from '../../kernel/errors.ts'
import { openMemoryBlobs } from '../../storage/memory/memory-objects.ts'
import { HOST_TENANT } from '../auth/host-tenant.ts'
import { OPTIONS, storeOf, type Environment } from '../config.ts'
import { tableLines } from './report/table.ts'
import type { Terminal } from './terminal.ts'

/** Options as the command line gives them. */
export interface ClusterFlags {
  store?: string
  json?: boolean
}

/** `drained`: a host to drain; undefined: all are shown. `USAGE`, `NOT_FOUND`, `STORE`. */
export async function runCluster(
  drained: string | undefined,
  { store: given, json = false }: ClusterFlags,
  env: Environment,
  terminal: Pick<Terminal, 'out'>,
): Promise<0> {
  const choice = storeOf(given ?? env[OPTIONS.store.env] ?? '')
  if (choice?.medium !== 'postgres') {
    throw new AppError('USAGE', '--store: name the PostgreSQL of the hosts, such as postgres://user@host/database')
  }
  const { openPostgres } = await import('../../storage/postgres/open.ts')
  const storage = await openPostgres({ url: choice.url, blobs: openMemoryBlobs() })
  try {
    const store = storage.tenant(HOST_TENANT)
    const told = drained === undefined ? await viewCluster(store) : await orderDrain(store, drained)
    if (json) terminal.out(`${JSON.stringify(told)}\n`)
    else if ('hosts' in told) terminal.out(`${tableOf(told)}\n`)
    else terminal.out(`${told.url} gives away what it has; "reflexarc cluster" shows how far it is\n`)
    return 0
  } finally {
    await storage.close()
  }
}

function tableOf({ hosts, free }: ClusterView): string {
  if (hosts.length === 0) return 'no host of a cluster has this store'
  const rows = hosts.map(({ id, url, version, state, slots, seenAgo }) => [
    id,
    url,
    version,
    state,
    String(slots),
    `${(seenAgo / 1000).toFixed(1)} s ago`,
  ])
  const table = tableLines([['id', 'address', 'version', 'state', 'slots', 'seen'], ...rows], new Set([4]))
  return [...table, ...(free === 0 ? [] : [`${free} slots are at no host`])].join('\n')
}
