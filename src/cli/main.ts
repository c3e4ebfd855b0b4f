#!/usr/bin/env node
/** The command line: `reflexarc` and its commands. */
import * as nodeModule from 'node:module'
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
import { processTerminal } from './terminal.ts'
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

// From the second start on, what the commands load is read as compiled code. Node 20 does not know this.
if ('enableCompileCache' in nodeModule) nodeModule.enableCompileCache()

const terminal = processTerminal()
const program = new Command('reflexarc')
  .description('A rule engine for what your sensors say: sensors, gates, triggers, actuators.')
  .version(ownVersion(), '--version', 'print the version')
  .option('--debug', 'show the stack of an error (also REFLEXARC_DEBUG=1)')
  .helpOption('--help', 'print this help')
  .helpCommand(false)
  .configureHelp({ showGlobalOptions: true })
  .showHelpAfterError('(--help tells what can be given)')
  .exitOverride()
  .addHelpText(
    'after',
    `
Examples:
  reflexarc check fixtures/rules/overheating.json
  reflexarc simulate fixtures/rules/overheating.json --messages fixtures/recordings/boiler.csv --resource boiler-1 --why`,
  )

// The exit code is set and the process ends by itself, so that everything written is flushed first.
const start: Start = async (work) => {
  process.exitCode = await work(terminal)
}
for (const define of COMMANDS) define(program, start)

try {
  await program.parseAsync()
} catch (error) {
  process.exitCode = report(error)
}

function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 1
  const debug = program.opts<{ debug?: boolean }>().debug === true || Boolean(process.env['REFLEXARC_DEBUG'])
  if (error instanceof AppError) terminal.err(`error: ${error.message}\n`)
  else terminal.err(`unexpected error: ${messageOf(error).split('\n')[0]}${debug ? '' : ' (--debug shows where)'}\n`)
  if (debug && error instanceof Error) terminal.err(`${error.stack}\n`)
  return 1
}
