/** What a command of the command line is made of. */
import type { Command } from 'commander'
import type { Terminal } from './terminal.ts'

/** Runs the work of a command; what it gives becomes the exit code. */
export type Start = (work: (terminal: Terminal) => Promise<0 | 1 | 2>) => Promise<void>

/**
 * Adds a command to the program. One function a command, listed in main.ts. Its action imports what it runs only when it
 * is asked for, so that help comes at once.
 */
export type DefineCommand = (program: Command, start: Start) => void

/** For options that may be given several times. */
export function gather(value: string, earlier: readonly string[]): readonly string[] {
  return [...earlier, value]
}

/** The option `--plugs`. */
export const PLUGS = [
  '--plugs <path>',
  'ES module that exports plugs made by definePlug, or a folder of such (repeatable)',
  gather,
  [],
] as const
