/** Reads the options of `sweep`. */
import { sweepValues } from '#core/spi'
import { AppError, FORBIDDEN_KEYS } from '#kernel'
import { readOptions, type SimulateFlags, type SimulateOptions } from './simulate-options.ts'

/** As `simulate`, but `--set` names what changes from run to run. */
export type SweepFlags = Omit<SimulateFlags, 'why' | 'all'>

export interface SweepOptions extends SimulateOptions {
  /** values by path */
  grid: Readonly<Record<string, readonly unknown[]>>
}

/** Reads all options and reports all that is wrong with them at once. Throws `USAGE`. */
export function readSweepOptions(rule: string, flags: SweepFlags): SweepOptions {
  const problems: string[] = []
  const grid = new Map<string, readonly unknown[]>()
  for (const text of flags.set) {
    const equals = text.indexOf('=')
    const path = text.slice(0, equals).trim()
    if (equals < 1 || path === '') {
      problems.push(`--set: "${text}" sets nothing; write node.property=70..90/5, or name=70,75,90 for a variable`)
    } else if (FORBIDDEN_KEYS.has(path)) {
      problems.push(`--set: nothing can be named "${path}"; write node.property=70..90/5`)
    } else if (grid.has(path)) {
      problems.push(`--set: ${path} is given twice; write its values as one list such as ${path}=70,75,90`)
    } else {
      try {
        grid.set(path, sweepValues(text.slice(equals + 1)))
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        problems.push(`--set ${path}: ${error.message}`)
      }
    }
  }
  if (flags.set.length === 0) problems.push('there is nothing to sweep: give --set node.property=70..90/5')
  const options = readOptions(rule, { ...flags, set: [] }, problems)
  return { ...options, grid: Object.fromEntries(grid) }
}
