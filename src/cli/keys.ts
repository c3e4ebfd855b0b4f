/** The command `keys`, with its own commands and their options. */
import type { Command } from 'commander'
import type { DefineCommand } from './command.ts'
import type { KeysAction, KeysFlags } from './run-keys.ts'

/** `reflexarc keys list|add|remove`: the key pairs of a data folder or a PostgreSQL. */
export const defineKeys: DefineCommand = (program, start) => {
  const keys = program
    .command('keys')
    .summary('list, add and remove the API keys of a host')
    .description(
      'The API keys in a data folder, each with the tenant that it opens. It works while no host runs on the folder, and on\n' +
        'a PostgreSQL (--store) while hosts run: they know of a change within a second.\n' +
        'A secret is shown once, when its key is added: only its hash is stored.',
    )
    .helpCommand(false)
  const add = (name: string, summary: string, action: (flags: KeysFlags, key?: string) => KeysAction): Command => {
    const command = keys
      .command(name)
      .summary(summary)
      .description(`${summary[0]?.toUpperCase()}${summary.slice(1)}.`)
    command
      .option('--store <address>', 'the PostgreSQL of the hosts, postgres://... (REFLEXARC_STORE, default sqlite:)')
      .option('--data <folder>', 'the data folder of the host (REFLEXARC_DATA, default ./data)')
      .option('--json', 'print JSON')
    const run = (flags: KeysFlags, key?: string) =>
      start(async (terminal) =>
        (await import('./run-keys.ts')).runKeys(action(flags, key), flags, process.env, terminal, Date.now),
      )
    if (name === 'remove') {
      return command.argument('<key>', 'as list shows it').action((key: string, flags: KeysFlags) => run(flags, key))
    }
    return command.action((flags: KeysFlags) => run(flags))
  }
  add('list', 'list keys, without secrets', ({ tenant }) => ({ do: 'list', tenant })).option(
    '--tenant <name>',
    'only those of a tenant',
  )
  add('add', 'make a key and its secret, and show both', ({ tenant }) => ({ do: 'add', tenant })).option(
    '--tenant <name>',
    'whose data it opens (REFLEXARC_TENANT, default "default")',
  )
  add('remove', 'remove a key, so that it opens nothing any more', (_flags, key = '') => ({ do: 'remove', key }))
  keys.addHelpText('after', '\nExample:\n  reflexarc keys add --tenant north --data ./data')
}
