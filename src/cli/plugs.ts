/** The command `plugs` and its options. */
import { gather, type DefineCommand } from './command.ts'
import type { PlugsOptions } from './run-plugs.ts'

/** `reflexarc plugs [NAME]`: what plugs there are, or all about one. */
export const definePlugs: DefineCommand = (program, start) => {
  program
    .command('plugs')
    .summary('list the plugs that rules may name, or tell all about one')
    .description(
      'Lists the built-in plugs and those of --plugs: name, kind, states, what it does. With a name: its properties with\n' +
        'types, defaults and examples, its states, what it gives, and a node to copy.',
    )
    .argument('[name]', 'name of a plug; a sensor and an actuator may share one')
    .option(
      '--plugs <path>',
      'ES module that exports plugs made by definePlug, or a folder of such (repeatable)',
      gather,
      [],
    )
    .option('--json', 'print [{ name, version, kind, states, input, output, ... }]')
    .addHelpText('after', '\nExample:\n  reflexarc plugs holdsFor')
    .action((name: string | undefined, options: PlugsOptions) => {
      return start(async (terminal) => {
        // Only when it is asked for, so that help comes at once.
        const { runPlugs } = await import('./run-plugs.ts')
        return await runPlugs(name, options, terminal)
      })
    })
}
