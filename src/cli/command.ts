/** Defines what all commands share. */
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { type Environment, isTenant, OPTIONS } from '#host/spi'
import type { Terminal } from './terminal.ts'

/** Runs the work of a command; the result becomes the exit code. */
export type Start = (work: (terminal: Terminal) => Promise<0 | 1 | 2>) => Promise<void>

export type DefineCommand = (command: Command, start: Start) => void

export function gather(value: string, earlier: readonly string[]): readonly string[] {
  return [...earlier, value]
}

export const DATA = ['--data <folder>', 'the data folder of the host (REFLEXARC_DATA, default ./data)'] as const

export function dataFolder({ data }: { readonly data?: string | undefined }, env: Environment): string {
  return resolve(data ?? (env[OPTIONS.data.env] || OPTIONS.data.default))
}

export function tenantProblems(tenant: string): readonly string[] {
  if (isTenant(tenant)) return []
  const right = 'use letters, digits, dots, - or _, except ".", ".." and "webscripts"'
  return [`--tenant: "${tenant}" is not a valid tenant name; ${right}`]
}

export function untilSignal(): AbortSignal {
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort())
  return stop.signal
}

export const PLUGS = [
  '--plugs <path>',
  'ES module that exports plugs of definePlug, or a folder of such modules (repeatable)',
  gather,
  [],
] as const
