/** Command line of the benchmarks. */
import { parseArgs } from 'node:util'
import type { Scope } from './measurement.ts'
import { isCell } from './measurements/cells.ts'
import { groups, measurements } from './measurements/index.ts'
import { OWN, subjects } from './subjects/index.ts'

export interface Options extends Scope {
  rounds: number
  only: readonly string[]
  json: boolean
  against?: string
  /** tolerated slowdown against the ref, as a share */
  failOver?: number
}

export const HELP = `npm run bench -- [options]

  --only <a,b>       what to measure (default all; against a ref: workloads): ${[...measurements.keys()].join(', ')};
                     short for several: ${[...groups.keys()].join(', ')};
                     of cells also one or a row: w2/odd, w2/odd/nulls, w2/*, odd
  --subjects <a,b>   whom to measure (default all; against a ref: ${OWN}): ${subjects.map(({ name }) => name).join(', ')};
                     short for several: own, peers
  --rounds <n>       samples of each, one fresh process a sample (default 5)
  --seconds <s>      CPU time of one sample after its warm-up (default 1; peers half of it)
  --against <ref>    the working tree beside a commit, branch or tag, in pairs of fresh processes; a verdict needs 6 rounds
  --fail-over <p>    against a ref: end with 2 when a line is surely slower by more, such as 5%
  --json             all samples as JSON instead of tables
`

/** Undefined for help. Throws an Error that lists every invalid option. */
export function readOptions(args: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string' },
      subjects: { type: 'string' },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '1' },
      against: { type: 'string' },
      'fail-over': { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined

  const problems: string[] = []
  const choose = (
    option: string,
    text: string | undefined,
    known: readonly string[],
    short: ReadonlyMap<string, readonly string[]>,
  ) => {
    if (text === undefined) return known
    const chosen = text.split(',').flatMap((name) => short.get(name.trim()) ?? [name.trim()])
    const unknown = chosen.filter((name) => !known.includes(name))
    if (unknown.length > 0)
      problems.push(`--${option}: ${unknown.join(', ')} is unknown; use ${[...known, ...short.keys()].join(', ')}`)
    return [...new Set(chosen)]
  }
  const compares = values.against !== undefined
  const asked = values.only?.split(',').map((name) => name.trim()) ?? []
  const cells = asked.filter((name) => !measurements.has(name) && isCell(name))
  // cells imply their measurement
  const names = [...new Set(asked.map((name) => (cells.includes(name) ? 'cells' : name)))]
  const text = names.length > 0 ? names.join(',') : compares ? 'workloads' : undefined
  const only = choose('only', text, [...measurements.keys()], groups)
  const chosenSubjects = choose(
    'subjects',
    values.subjects ?? (compares ? OWN : undefined),
    subjects.map(({ name }) => name),
    new Map([
      ['own', namesOf('own')],
      ['peers', namesOf('peer')],
    ]),
  )
  const rounds = Number(values.rounds)
  if (!Number.isInteger(rounds) || rounds < 1)
    problems.push(`--rounds: "${values.rounds}" is not a whole number from 1`)
  const seconds = Number(values.seconds)
  if (!(seconds > 0 && seconds <= 60)) problems.push(`--seconds: "${values.seconds}" is not between 0 and 60`)
  const percent = Number(values['fail-over']?.replace(/\s*%$/, ''))
  if (values['fail-over'] !== undefined && !(percent >= 0 && percent < 100 && compares))
    problems.push(`--fail-over: "${values['fail-over']}" needs a percentage such as 5%, and --against`)
  if (problems.length > 0) throw new Error(problems.join('\n'))
  return {
    rounds,
    measureMs: seconds * 1000,
    only,
    subjects: chosenSubjects,
    cells,
    json: values.json,
    ...(values.against !== undefined && { against: values.against }),
    ...(values['fail-over'] !== undefined && { failOver: percent / 100 }),
  }
}

function namesOf(role: 'own' | 'peer'): readonly string[] {
  return subjects.filter((one) => one.role === role).map(({ name }) => name)
}
