#!/usr/bin/env node
/** The program `reflexarc`. */
import * as nodeModule from 'node:module'
import { runCommandLine } from './command-line.ts'
import { processTerminal } from './terminal.ts'

// Caches compiled code of the commands between starts. Unknown to Node 20.
if ('enableCompileCache' in nodeModule) nodeModule.enableCompileCache()

// The process ends without `exit`, so that everything written is flushed first.
process.exitCode = await runCommandLine(process.argv.slice(2), processTerminal())
