/** `reflexarc cluster [drain <host>]`: shows or changes hosts that share a database. */
import type { Command } from 'commander'
import type { DefineCommand } from './command.ts'
import { type ClusterView, type HostView, orderDrain, viewCluster } from '#cluster'
import { AppError } from '#kernel'
import { openMemoryBlobs, type Storage } from '#storage'
import { type Environment, OPTIONS, storeOf } from '#host/spi'
import { type ClusterTenants, HOST_TENANT, viewTenants } from '#host/running'
import { tableLines } from './report/table.ts'
import type { Terminal } from './terminal.ts'

export const define: DefineCommand = (command, start) => {
  const withOptions = (one: Command): Command =>
    one
      .option('--store <address>', 'PostgreSQL of the hosts, postgres://... (REFLEXARC_STORE)')
      .option('--json', 'print JSON')
  const run = (flags: ClusterFlags, drain?: string) =>
    start((terminal) => runCluster(drain, flags, process.env, terminal))
  const cluster = withOptions(command)
    .option('--tenant <name>', 'list only this tenant')
    .description(
      'Lists the hosts that share a PostgreSQL (serve --cluster) with address, version, slots and last heartbeat, then the\n' +
        'tenants: the host of each, and how far the stored states of its tasks are behind its messages. It reads the\n' +
        'database, so it works even if hosts are down.',
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
      run({ ...subcommand.parent?.opts(), ...flags }, host),
    )
  cluster.addHelpText('after', '\nExample:\n  reflexarc cluster --store postgresql://reflexarc@db.local/reflexarc')
}

export interface ClusterFlags {
  store?: string
  json?: boolean
  tenant?: string
}

type WholeView = ClusterView & ClusterTenants

/** `drain`: id or address of a host to drain. Throws `USAGE`, `NOT_FOUND` or `STORE`. */
export async function runCluster(
  drain: string | undefined,
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
    const view = await carriedOut(drain, storage, tenant)
    terminal.out(`${json ? JSON.stringify(view) : textOf(view)}\n`)
    return 0
  } finally {
    await storage.close()
  }
}

async function carriedOut(
  drain: string | undefined,
  storage: Storage,
  tenant: string | undefined,
): Promise<WholeView | HostView> {
  const store = storage.tenant(HOST_TENANT)
  if (drain !== undefined) return orderDrain(store, drain)
  const view = await viewCluster(store)
  return { ...view, ...(await viewTenants(storage, view, tenant)) }
}

function textOf(view: WholeView | HostView): string {
  if ('hosts' in view) return [...hostLines(view), ...tenantLines(view)].join('\n')
  return `${view.url} hands over its tenants; "reflexarc cluster" shows the progress`
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

function tenantLines({ tenants, moreTenants }: ClusterTenants): readonly string[] {
  if (tenants.length === 0) return []
  const rows = tenants.map(({ tenant, host, behind }) => [
    tenant,
    host ?? 'none',
    String(behind.messages),
    secondsOf(behind.ms),
  ])
  const head = ['tenant', 'host', 'behind', 'for']
  const more = `${moreTenants} more tenants; --tenant NAME shows one of them`
  return ['', ...tableLines([head, ...rows], new Set([2, 3])), ...(moreTenants === 0 ? [] : [more])]
}

function secondsOf(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`
}
