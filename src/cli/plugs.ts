/** `reflexarc plugs [NAME]`: prints a table of all plugs, or everything about one plug. */
import { PLUGS, type DefineCommand } from './command.ts'
import { byName, exampleNode, plugPage } from '#core/spi'
import type { Plug } from '#core'
import { AppError, nearest } from '#kernel'
import { loadPlugs } from '#host/load-plugs'
import { tableLines } from './report/table.ts'
import type { Terminal } from './terminal.ts'

export const define: DefineCommand = (command, start) => {
  command
    .description(
      'Lists the built-in plugs and the plugs of --plugs with kind, states and description. With a name: properties with\n' +
        'types, defaults and examples, states, output, and a node to copy.',
    )
    .argument('[name]', 'name of a plug, possibly of both a sensor and an actuator')
    .option(...PLUGS)
    .option('--json', 'print [{ name, version, kind, states, input, output, ... }]')
    .addHelpText('after', '\nExample:\n  reflexarc plugs holdsFor')
    .action((name: string | undefined, options: PlugsOptions) => start((terminal) => runPlugs(name, options, terminal)))
}

export interface PlugsOptions {
  plugs: readonly string[]
  json?: boolean
}

/** Prints the table of all plugs, or the pages of those with the given name. Throws `NOT_FOUND` for an unknown name. */
export async function runPlugs(name: string | undefined, options: PlugsOptions, terminal: Terminal): Promise<0> {
  const all = (await loadPlugs(options.plugs)).toSorted(byName)
  const chosen = name === undefined ? all : named(name, all)
  if (options.json === true) terminal.out(`${JSON.stringify(chosen.map(described), null, 2)}\n`)
  else if (name === undefined) terminal.out(`${listed(chosen).join('\n')}\n`)
  else terminal.out(`${chosen.map(plugPage).join('\n\n')}\n`)
  return 0
}

function named(name: string, all: readonly Plug[]): readonly Plug[] {
  const found = all.filter((plug) => plug.name === name)
  if (found.length > 0) return found
  const names = [...new Set(all.map((plug) => plug.name))]
  const same = names.find((one) => one.toLowerCase() === name.toLowerCase())
  const close = same ?? nearest(name, names)
  const hint = close === undefined ? '"reflexarc plugs" lists all plugs' : `did you mean ${close}?`
  throw new AppError('NOT_FOUND', `unknown plug ${JSON.stringify(name.slice(0, 100))}; ${hint}`)
}

function listed(plugs: readonly Plug[]): readonly string[] {
  const rows = plugs.map(({ name, kind, states, description = '' }) => [
    name,
    kind,
    states.join(', '),
    // the first sentence suffices for choosing a plug
    description.split(/(?<=[.:])\s/)[0]?.replace(/:$/, '.') ?? '',
  ])
  return tableLines([['plug', 'kind', 'states', 'what it does'], ...rows])
}

function described(plug: Plug): object {
  const { name, version, kind, category, description, states, input, output, openOutput } = plug
  return { name, version, kind, category, description, states, input, output, openOutput, example: exampleNode(plug) }
}
