/** The command line: `reflexarc` and its commands. */
import { Command, CommanderError } from 'commander'
import { AppError, messageOf } from '#kernel'
import { defineBench } from './bench.ts'
import { defineCheck } from './check.ts'
import { defineClock } from './clock.ts'
import { defineCluster } from './cluster.ts'
import type { DefineCommand, Start } from './command.ts'
import { defineConvert } from './convert.ts'
import { defineDiff } from './diff.ts'
import { defineDoctor } from './doctor.ts'
import { defineFunctions } from './functions.ts'
import { defineImport } from './import.ts'
import { defineKeys } from './keys.ts'
import { defineModels } from './models.ts'
import { defineNext } from './next.ts'
import { definePlugs } from './plugs.ts'
import { defineMutate, defineProve } from './prove.ts'
import { defineServe } from './serve.ts'
import { defineSimulate } from './simulate.ts'
import { defineSweep } from './sweep.ts'
import type { Terminal } from './terminal.ts'
import { defineToken } from './token.ts'
import { ownVersion } from '#host/spi'

const COMMANDS: readonly DefineCommand[] = [
  defineServe,
  defineCheck,
  defineSimulate,
  defineDiff,
  defineSweep,
  defineProve,
  defineMutate,
  defineBench,
  defineNext,
  definePlugs,
  defineConvert,
  defineFunctions,
  defineModels,
  defineImport,
  defineToken,
  defineKeys,
  defineCluster,
  defineClock,
  defineDoctor,
]

/** Runs the command that `args` names. Returns the exit code. */
export async function runCommandLine(args: readonly string[], terminal: Terminal): Promise<number> {
  let code = 0
  const start: Start = async (work) => {
    code = await work(terminal)
  }
  const program = new Command('reflexarc')
    .description('A rule engine for what your sensors say: sensors, gates, triggers, actuators.')
    .version(ownVersion(), '--version', 'print the version')
    .option('--debug', 'show the stack of an error (also REFLEXARC_DEBUG=1)')
    .helpOption('--help', 'print this help')
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({ writeOut: (text) => terminal.out(text), writeErr: (text) => terminal.err(text) })
    .showHelpAfterError('(--help tells what can be given)')
    .exitOverride()
    .addHelpText(
      'after',
      `
Examples:
  reflexarc check fixtures/rules/overheating.json
  reflexarc simulate fixtures/rules/overheating.json --messages fixtures/recordings/boiler.csv --resource boiler-1 --why`,
    )
  for (const define of COMMANDS) define(program, start)
  try {
    await program.parseAsync(args, { from: 'user' })
    return code
  } catch (error) {
    return report(error, program.opts<{ debug?: boolean }>().debug === true, terminal)
  }
}

function report(error: unknown, asked: boolean, terminal: Terminal): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 1
  const debug = asked || Boolean(process.env['REFLEXARC_DEBUG'])
  if (error instanceof AppError) terminal.err(`error: ${error.message}\n`)
  else terminal.err(`unexpected error: ${messageOf(error).split('\n')[0]}${debug ? '' : ' (--debug shows where)'}\n`)
  if (debug && error instanceof Error) terminal.err(`${error.stack}\n`)
  return 1
}
