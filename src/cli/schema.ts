/** `reflexarc schema`: prints one JSON Schema of rules with all plugs, for editors. */
import { plugsSchema } from '#core/spi'
import { loadPlugs } from '#host/load-plugs'
import { type DefineCommand, PLUGS } from './command.ts'
import type { Terminal } from './terminal.ts'

export const define: DefineCommand = (command, start) => {
  command
    .description(
      'Prints one JSON Schema of rules and templates with the properties of the built-in plugs and the plugs of --plugs.\n' +
        'An editor uses it for a file that names it: { "$schema": "./rules.schema.json", ... }.',
    )
    .option(...PLUGS)
    .addHelpText('after', '\nExample:\n  reflexarc schema > rules.schema.json')
    .action((options: { readonly plugs: readonly string[] }) => start((terminal) => runSchema(options.plugs, terminal)))
}

export async function runSchema(plugs: readonly string[], terminal: Terminal): Promise<0> {
  terminal.out(`${JSON.stringify(plugsSchema(await loadPlugs(plugs)), null, 2)}\n`)
  return 0
}
