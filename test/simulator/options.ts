/** What the command that simulates can be told. */
import { parseArgs } from 'node:util'
import { messageOf } from '../../src/kernel/errors.ts'

export const OPTIONS = {
  /** one run, with all that happened in it */
  seed: { type: 'string' },
  /** that many runs, from the seed `from` */
  seeds: { type: 'string' },
  from: { type: 'string', default: '1' },
  /** as many runs as so many hours allow, instead; their seeds begin at `from` */
  hours: { type: 'string' },
  /** processes that run seeds side by side */
  workers: { type: 'string', default: '1' },
  /** a file with what came out so far, with which a later call goes on */
  report: { type: 'string' },
  /** takes portions of seeds from the process that started this one */
  worker: { type: 'boolean', default: false },
  /** a file with a plan, with all that happened in its run; a folder of them, with findings alone */
  case: { type: 'string' },
  /** services whose operations are drawn, with commas between; of mutants, those whose names have it */
  only: { type: 'string' },
  /** the subject that every run is about, as in `world/subjects.ts` */
  about: { type: 'string' },
  /** a folder for the plans of runs with findings, made smaller */
  keep: { type: 'string' },
  /** ends with the first run that finds something */
  first: { type: 'boolean', default: false },
  /** puts mended faults back, and looks whether as many seeds find them */
  mutants: { type: 'boolean', default: false },
  /** of mutants: after so many minutes no other is begun */
  minutes: { type: 'string', default: '600' },
  /** of mutants: a file with what came out, with which a later call goes on */
  results: { type: 'string' },
  /** of mutants: JSON and no table */
  json: { type: 'boolean', default: false },
  /** every run is done twice and must be the same */
  twice: { type: 'boolean', default: false },
} as const

export type Values = ReturnType<typeof valuesOf>

/** Ends the process with what is wrong, and what would be right, when an option is none. */
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

/** seeds that are run unless it is said how many */
export const FEW_SEEDS = 100
