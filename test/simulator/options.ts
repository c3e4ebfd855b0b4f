/** Defines the options of the simulator command. */
import { parseArgs } from 'node:util'
import { messageOf } from '../../src/kernel/errors.ts'

export const OPTIONS = {
  /** runs one seed, and prints everything that happened */
  seed: { type: 'string' },
  /** number of runs, starting at seed `from` */
  seeds: { type: 'string' },
  from: { type: 'string', default: '1' },
  /** instead: runs for this many hours, starting at seed `from` */
  hours: { type: 'string' },
  /** number of processes that run seeds in parallel */
  workers: { type: 'string', default: '1' },
  /** file with the results so far, which a later call continues */
  report: { type: 'string' },
  /** takes portions of seeds from the parent process */
  worker: { type: 'boolean', default: false },
  /** file with a plan: prints everything that happened in its run; or a folder of plans: prints only findings */
  case: { type: 'string' },
  /** comma-separated services whose operations are drawn; with mutants: only those whose names contain it */
  only: { type: 'string' },
  /** subject of every run, as in `world/subjects.ts` */
  about: { type: 'string' },
  /** folder for the shrunk plans of runs with findings */
  keep: { type: 'string' },
  /** stops at the first run that finds something */
  first: { type: 'boolean', default: false },
  /** reintroduces fixed faults, and checks whether as many seeds find them */
  mutants: { type: 'boolean', default: false },
  /** with mutants: starts no other mutant after this many minutes */
  minutes: { type: 'string', default: '600' },
  /** with mutants: file with the results, which a later call continues */
  results: { type: 'string' },
  /** with mutants: prints JSON instead of a table */
  json: { type: 'boolean', default: false },
  /** performs each run twice and requires equal results */
  twice: { type: 'boolean', default: false },
} as const

export type Values = ReturnType<typeof valuesOf>

/** Parses the options. For an invalid option, exits with the problem and a suggestion. */
export function valuesOf(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: OPTIONS }).values
  } catch (error) {
    console.error(
      `${messageOf(error)}\noptions: ${Object.keys(OPTIONS)
        .map((name) => `--${name}`)
        .join(' ')}`,
    )
    console.error('docs/concepts/host-simulator.md says what they do')
    process.exit(2)
  }
}

/** default number of seeds */
export const FEW_SEEDS = 100
