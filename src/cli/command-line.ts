/** Defines the command line: `reflexarc` and its commands. */
import { Command, CommanderError, Help } from 'commander'
import { AppError, messageOf } from '#kernel'
import type { DefineCommand, Start } from './command.ts'
import type { Terminal } from './terminal.ts'
import { ownVersion } from '#host/spi'

/** For each command: its term in the help, its summary, and its file, which is loaded only when the command runs. */
const COMMANDS: readonly (readonly [term: string, summary: string, load: () => Promise<{ define: DefineCommand }>])[] =
  [
    ['serve [options]', 'serve the whole API on one port', () => import('./serve.ts')],
    ['check [options] <rule...>', 'list all problems of rules and templates', () => import('./check.ts')],
    ['simulate [options] <rule>', 'run a rule over a recording in virtual time', () => import('./simulate.ts')],
    ['diff [options] <old> [new]', 'compare the firings of two rules over a recording', () => import('./diff.ts')],
    [
      'sweep [options] <rule>',
      'run a rule with several values over a recording, and count firings',
      () => import('./sweep.ts'),
    ],
    [
      'prove [options] <rule>',
      'search for messages that violate a property of a rule',
      async () => ({ define: (await import('./prove.ts')).defineProve }),
    ],
    [
      'mutate [options] <rule>',
      'list changes of a rule that its properties do not detect',
      async () => ({ define: (await import('./prove.ts')).defineMutate }),
    ],
    ['test [options] [path...]', 'run the example tests of rules', () => import('./test.ts')],
    ['rules', 'keep the rules of a host as files: pull, push, diff; write a rule as code', () => import('./rules.ts')],
    ['schema [options]', 'print a JSON Schema of rules with all plugs, for editors', () => import('./schema.ts')],
    ['mcp [options]', 'serve the tools of a host to an assistant', () => import('./mcp.ts')],
    [
      'rollout',
      'try a version of a template beside the live one, promote it, roll it back',
      () => import('./rollout.ts'),
    ],
    ['bench [options] <rule>', 'measure the speed of a rule over a recording', () => import('./bench.ts')],
    [
      'next [options] <expression...>',
      'list the next runs of a cron expression or recurrence rule',
      () => import('./next.ts'),
    ],
    ['plugs [options] [name]', 'list the plugs that rules can use, or describe one', () => import('./plugs.ts')],
    [
      'convert [options] <template>',
      'print the messages that a template makes of a payload',
      () => import('./convert.ts'),
    ],
    ['demo', 'manage the demo plant of a new host', () => import('./demo.ts')],
    ['functions', 'create, test and deploy functions, and read their logs', () => import('./functions.ts')],
    ['models', 'upload models, request predictions, and install runtimes', () => import('./models.ts')],
    ['import [options] <file>', 'import a file of messages into the series of a host', () => import('./import.ts')],
    ['token [options]', 'print a bearer token for a host', () => import('./token.ts')],
    ['keys', 'list, add, rotate and remove the API keys of a host', () => import('./keys.ts')],
    ['login [options]', 'print a link that logs in a browser', () => import('./login.ts')],
    ['cluster [options]', 'list the hosts and tenants of a cluster, or drain a host', () => import('./cluster.ts')],
    ['worker [options]', 'run rules in a consumer group of Kafka', () => import('./worker.ts')],
    ['clock [options]', 'set the time of a host to the clock of its machine', () => import('./clock.ts')],
    ['backup [options] <folder>', 'back up the data folder of a running host', () => import('./backup.ts')],
    ['restore [options] <folder>', 'restore a backup into a new data folder', () => import('./restore.ts')],
    ['doctor [options]', 'list damage in a data folder, and repair it', () => import('./doctor.ts')],
  ]

export async function runCommandLine(args: readonly string[], terminal: Terminal): Promise<number> {
  let code = 0
  const start: Start = async (work) => {
    code = await work(terminal)
  }
  const program = new Command('reflexarc')
    .description('A rule engine for sensor data: sensors, gates, triggers, actuators.')
    .version(ownVersion(), '--version', 'print the version')
    .option('--debug', 'print the stack of an error (also REFLEXARC_DEBUG=1)')
    .helpOption('--help', 'print this help')
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: true, subcommandTerm: termOf })
    .configureOutput({ writeOut: (text) => terminal.out(text), writeErr: (text) => terminal.err(text) })
    .showHelpAfterError('(--help lists commands and options)')
    .exitOverride()
    .addHelpText(
      'after',
      `
Examples:
  reflexarc check fixtures/rules/overheating.json
  reflexarc simulate fixtures/rules/overheating.json --messages fixtures/recordings/boiler.csv --resource boiler-1 --why`,
    )
  const subcommand = args.find((word) => !word.startsWith('-'))
  try {
    for (const [term, summary, load] of COMMANDS) {
      const [name = ''] = term.split(' ')
      const command = program.command(name).summary(summary)
      if (name === subcommand) (await load()).define(command, start)
    }
    await program.parseAsync(args, { from: 'user' })
    return code
  } catch (error) {
    return report(error, program.opts<{ debug?: boolean }>().debug === true, terminal)
  }
}

function report(error: unknown, isDebug: boolean, terminal: Terminal): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 1
  const debug = isDebug || Boolean(process.env['REFLEXARC_DEBUG'])
  if (error instanceof AppError) terminal.err(`error: ${error.message}\n`)
  else terminal.err(`unexpected error: ${messageOf(error).split('\n')[0]}${debug ? '' : ' (--debug shows where)'}\n`)
  if (debug && error instanceof Error) terminal.err(`${error.stack}\n`)
  return 1
}

/** From the list for commands that are not loaded, since their options are unknown. */
function termOf(command: Command): string {
  const listed = COMMANDS.find(([term]) => term.split(' ')[0] === command.name())
  const isOfProgram = command.parent !== null && command.parent.parent === null
  return isOfProgram && listed !== undefined ? listed[0] : new Help().subcommandTerm(command)
}
