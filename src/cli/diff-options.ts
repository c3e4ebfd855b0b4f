/** Reads the options of `diff`. */
import { AppError, durationMs } from '#kernel'
import { readOptions, type SimulateFlags, type SimulateOptions } from './simulate-options.ts'

export interface DiffFlags extends Omit<SimulateFlags, 'why'> {
  tolerance: string
  firings?: string
  exitCode?: boolean
}

export interface DiffOptions extends SimulateOptions {
  /** ms */
  tolerance: number
  /** file with the firings of an earlier run */
  firings: string | undefined
  exitCode: boolean
}

/** Reads all options and reports all that is wrong with them at once. Throws `USAGE`. */
export function readDiffOptions(old: string, fresh: string | undefined, flags: DiffFlags): DiffOptions {
  const { firings } = flags
  const problems: string[] = []
  if ((fresh === undefined) === (firings === undefined)) {
    problems.push('what to compare with: give another rule, or --firings FILE with those of an earlier run')
  }
  const inputs = [old, fresh, firings, flags.messages].filter((path) => path === '-')
  // What readOptions sees itself is not said twice.
  if (inputs.length > 1 && !(old === '-' && flags.messages === '-'))
    problems.push('only one of the rules, --firings and --messages can be standard input')
  let tolerance = 0
  try {
    tolerance = durationMs(flags.tolerance)
    if (tolerance < 0) problems.push(`--tolerance: "${flags.tolerance}" lies below 0; write 10m or PT10M`)
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    problems.push(`--tolerance: ${error.message}`)
  }
  const options = readOptions(old, flags, problems)
  return { ...options, tolerance, firings, exitCode: flags.exitCode ?? false }
}
