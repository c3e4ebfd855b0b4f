/** `reflexarc cluster [drain <host> | partitions <tenant> <count>]`: shows or changes hosts that share a database. */
import type { Command } from 'commander'
import type { DefineCommand } from './command.ts'
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

export const define: DefineCommand = (command, start) => {
  const withOptions = (one: Command): Command =>
    one
      .option('--store <address>', 'PostgreSQL of the hosts, postgres://... (REFLEXARC_STORE)')
      .option('--json', 'print JSON')
  const run = (flags: ClusterFlags, order?: ClusterOrder) =>
    start((terminal) => runCluster(order, flags, process.env, terminal))
  const cluster = withOptions(command)
    .option('--tenant <name>', 'list only the partitions of this tenant')
    .description(
      'Lists the hosts that share a PostgreSQL (serve --cluster) with address, version, slots and last heartbeat, then the\n' +
        'partitions of tenants: the host of each, how far the stored states of its tasks are behind its messages, and how many\n' +
        'messages of other partitions it has not processed yet. It reads the database, so it works even if hosts are down.',
    )
    .helpCommand(false)
    .action((flags: ClusterFlags) => run(flags))
  withOptions(cluster.command('drain'))
    .summary('move all tenants away from a host')
    .description(
      'Makes a host hand over all tenants and accept none. It continues to forward requests to the other hosts.',
    )
    .argument('<host>', 'id or address of the host, as printed by cluster')
    .action((host: string, flags: ClusterFlags, subcommand: Command) =>
      run({ ...subcommand.parent?.opts(), ...flags }, { drain: host }),
    )
  withOptions(cluster.command('partitions'))
    .summary('divide a tenant into partitions')
    .description(
      'Raises the number of partitions of a tenant, each of which runs on one host: 1 to 64, never fewer than before. Its\n' +
        'tasks pause for a moment. Existing tasks stay in their partition; new tasks are spread.',
    )
    .argument('<tenant>', 'name of the tenant')
    .argument('<count>', 'new number of partitions')
    .action((tenant: string, count: string, flags: ClusterFlags, subcommand: Command) =>
      run({ ...subcommand.parent?.opts(), ...flags }, { tenant, partitions: count }),
    )
  cluster.addHelpText('after', '\nExample:\n  reflexarc cluster --store postgresql://reflexarc@db.local/reflexarc')
}

export interface ClusterFlags {
  store?: string
  json?: boolean
  tenant?: string
}

type WholeView = ClusterView & ClusterPartitions

export type ClusterOrder = { readonly drain: string } | { readonly tenant: string; readonly partitions: string }

/** Throws `USAGE`, `NOT_FOUND` or `STORE`; for partitions also `WRONG_STATUS` and `CONFLICT`. */
export async function runCluster(
  order: ClusterOrder | undefined,
  { store: url, json = false, tenant }: ClusterFlags,
  env: Environment,
  terminal: Pick<Terminal, 'out'>,
): Promise<0> {
  const choice = storeOf(url ?? env[OPTIONS.store.env] ?? '')
  if (choice?.medium !== 'postgres') {
    throw new AppError(
      'USAGE',
      '--store: write the address of the PostgreSQL of the hosts, such as postgres://user@host/database',
    )
  }
  const { openPostgres } = await import('#storage/postgres')
  const storage = await openPostgres({ url: choice.url, blobs: openMemoryBlobs() })
  try {
    const view = await carriedOut(order, storage, tenant)
    terminal.out(`${json ? JSON.stringify(view) : textOf(view)}\n`)
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

function textOf(view: WholeView | HostView | RaisedPartitions): string {
  if ('hosts' in view) return [...hostLines(view), ...tenantLines(view)].join('\n')
  if ('url' in view) return `${view.url} hands over its tenants; "reflexarc cluster" shows the progress`
  const { tenant, before, count } = view
  return before === count
    ? `${tenant} already has ${count} partitions`
    : `${tenant} now has ${count} partitions instead of ${before}; new tasks are spread over them`
}

function hostLines({ hosts, free }: ClusterView): readonly string[] {
  if (hosts.length === 0) return ['no host of a cluster uses this store']
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
  return [...table, ...(free === 0 ? [] : [`${free} slots without a host`])]
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
  const more = `${moreTenants} more tenants; --tenant NAME shows one of them`
  return ['', ...tableLines([head, ...rows], new Set([1, 3, 4, 5])), ...(moreTenants === 0 ? [] : [more])]
}

function secondsOf(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
