/** The command `cluster`, with its own command and their options. */
import type { Command } from 'commander'
import type { DefineCommand } from './command.ts'
import type { ClusterFlags } from './run-cluster.ts'

/** `reflexarc cluster [drain <host>]`: the hosts that share a PostgreSQL. */
export const defineCluster: DefineCommand = (program, start) => {
  const withOptions = (command: Command): Command =>
    command
      .option('--store <address>', 'the PostgreSQL of the hosts, postgres://... (REFLEXARC_STORE)')
      .option('--json', 'print JSON')
  const run = (flags: ClusterFlags, drained?: string) =>
    start(async (terminal) => {
      // Only when it is asked for, so that help comes at once.
      const { runCluster } = await import('./run-cluster.ts')
      return runCluster(drained, flags, process.env, terminal)
    })
  const cluster = withOptions(program.command('cluster'))
    .summary('show the hosts of a cluster, or drain one')
    .description(
      'The hosts that share a PostgreSQL (serve --cluster): their addresses, versions and slots, and when each was there\n' +
        'last. It reads the database, so it works whichever hosts answer.',
    )
    .helpCommand(false)
    .action((flags: ClusterFlags) => run(flags))
  withOptions(cluster.command('drain'))
    .summary('move everything away from a host')
    .description('Tells a host to give everything away and to take nothing. It goes on handing requests to the others.')
    .argument('<host>', 'its id or address, as cluster shows them')
    .action((host: string, flags: ClusterFlags, command: Command) => run({ ...command.parent?.opts(), ...flags }, host))
  cluster.addHelpText('after', '\nExample:\n  reflexarc cluster --store postgresql://reflexarc@db.local/reflexarc')
}
