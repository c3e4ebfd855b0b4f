/** `reflexarc demo reset`: removes the demo plant of a host. */
import { removeDemo } from '#host/running'
import type { DefineCommand } from './command.ts'
import { connected } from './connected.ts'
import { connect, type ConnectFlags } from './functions/connect.ts'

export const define: DefineCommand = (demo, start) => {
  demo.description('Manages the demo plant that a new host simulates.').helpCommand(false)
  connected(demo.command('reset'))
    .summary('remove the demo plant')
    .description('Removes the resources, data, alarms, tasks and templates of the demo plant, and nothing else.')
    .action((flags: ConnectFlags) =>
      start(async (terminal) => {
        const removed = await removeDemo(connect(flags, process.env))
        const text = removed ? 'the demo plant was removed' : 'this host has no demo plant'
        terminal.out(flags.json === true ? `${JSON.stringify({ removed })}\n` : `${text}\n`)
        return 0
      }),
    )
}
