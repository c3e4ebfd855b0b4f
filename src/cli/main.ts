#!/usr/bin/env node
/** Starts the program `reflexarc`. */
import * as nodeModule from 'node:module'
import { runCommandLine } from './command-line.ts'
import { processTerminal } from './terminal.ts'

// Caches the compiled code of commands between starts. Node 20 lacks this function.
if ('enableCompileCache' in nodeModule) nodeModule.enableCompileCache()

// Set the exit code instead of calling `exit`, so that all output is flushed first.
process.exitCode = await runCommandLine(process.argv.slice(2), processTerminal())
