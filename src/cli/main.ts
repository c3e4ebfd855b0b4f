#!/usr/bin/env node
/** The program `reflexarc`. */
import * as nodeModule from 'node:module'
import { runCommandLine } from './command-line.ts'
import { processTerminal } from './terminal.ts'

// From the second start on, what the commands load is read as compiled code. Node 20 does not know this.
if ('enableCompileCache' in nodeModule) nodeModule.enableCompileCache()

// The exit code is set and the process ends by itself, so that everything written is flushed first.
process.exitCode = await runCommandLine(process.argv.slice(2), processTerminal())
