/** The command `cluster`, with its own command and their options. */
import type { Command } from 'commander'
import type { DefineCommand } from './command.ts'
import type { ClusterFlags, ClusterOrder } from './run-cluster.ts'

/** `reflexarc cluster [drain <host> | partitions <tenant> <count>]`: the hosts that share a PostgreSQL, and their tenants. */
export const defineCluster: DefineCommand = (program, start) => {
  const withOptions = (command: Command): Command =>
    command
      .option('--store <address>', 'the PostgreSQL of the hosts, postgres://... (REFLEXARC_STORE)')
      .option('--json', 'print JSON')
  const run = (flags: ClusterFlags, order?: ClusterOrder) =>
    start(async (terminal) => (await import('./run-cluster.ts')).runCluster(order, flags, process.env, terminal))
  const cluster = withOptions(program.command('cluster'))
    .option('--tenant <name>', 'show the partitions of this tenant alone')
    .summary('show the hosts of a cluster, drain one, or spread a tenant')
    .description(
      'The hosts that share a PostgreSQL (serve --cluster): their addresses, versions and slots, and when each was there\n' +
        'last. Then the partitions of tenants: where each is, how far stored states of its tasks are behind its messages, and\n' +
        'how many of other partitions it has not taken. It reads the database, so it works whichever hosts answer.',
    )
    .helpCommand(false)
    .action((flags: ClusterFlags) => run(flags))
  withOptions(cluster.command('drain'))
    .summary('move everything away from a host')
    .description('Tells a host to give everything away and to take nothing. It goes on handing requests to the others.')
    .argument('<host>', 'its id or address, as cluster shows them')
    .action((host: string, flags: ClusterFlags, command: Command) =>
      run({ ...command.parent?.opts(), ...flags }, { drain: host }),
    )
  withOptions(cluster.command('partitions'))
    .summary('spread a tenant over the hosts')
    .description(
      'Gives a tenant more partitions, each of which is at one host: 1 to 64, and never fewer than there are. Its tasks\n' +
        'stand still for a moment. Tasks that are there stay where they are; those that are made later are spread.',
    )
    .argument('<tenant>', 'whose messages and tasks they are')
    .argument('<count>', 'how many it is to have')
    .action((tenant: string, count: string, flags: ClusterFlags, command: Command) =>
      run({ ...command.parent?.opts(), ...flags }, { tenant, partitions: count }),
    )
  cluster.addHelpText('after', '\nExample:\n  reflexarc cluster --store postgresql://reflexarc@db.local/reflexarc')
}
