/** The command `plugs` and its options. */
import { PLUGS, type DefineCommand } from './command.ts'
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
    .option(...PLUGS)
    .option('--json', 'print [{ name, version, kind, states, input, output, ... }]')
    .addHelpText('after', '\nExample:\n  reflexarc plugs holdsFor')
    .action((name: string | undefined, options: PlugsOptions) =>
      start(async (terminal) => (await import('./run-plugs.ts')).runPlugs(name, options, terminal)),
    )
}
