/** The command line of the benches. */
import { parseArgs } from 'node:util'
import { subjects } from './subjects/index.ts'
import { workloads } from './workloads/index.ts'

export interface Options {
  rounds: number
  /** CPU time that a throughput sample measures, ms */
  measureMs: number
  /** names of workloads, `simulate`, `memory` */
  only: readonly string[]
  subjects: readonly string[]
  json: boolean
}

export const HELP = `npm run bench -- [options]

  --only <a,b>       what to measure (default all): ${[...workloads.keys()].join(', ')}, simulate, memory
  --subjects <a,b>   whom to measure in the workloads (default all): ${subjects.map(({ name }) => name).join(', ')}
  --rounds <n>       samples of each, one fresh process a sample (default 5)
  --seconds <s>      CPU time of one sample after its warm-up (default 1)
  --json             all samples as JSON instead of tables
`

/** Undefined when help was asked for. Throws an Error that names every wrong option. */
export function readOptions(args: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string' },
      subjects: { type: 'string' },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '1' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return undefined

  const problems: string[] = []
  const choose = (option: string, text: string | undefined, known: readonly string[]) => {
    const chosen = text === undefined ? known : text.split(',').map((name) => name.trim())
    const unknown = chosen.filter((name) => !known.includes(name))
    if (unknown.length > 0)
      problems.push(`--${option}: there is no ${unknown.join(', ')}; there are ${known.join(', ')}`)
    return chosen
  }
  const only = choose('only', values.only, [...workloads.keys(), 'simulate', 'memory'])
  const chosenSubjects = choose(
    'subjects',
    values.subjects,
    subjects.map(({ name }) => name),
  )
  const rounds = Number(values.rounds)
  if (!Number.isInteger(rounds) || rounds < 1)
    problems.push(`--rounds: "${values.rounds}" is not a whole number from 1`)
  const seconds = Number(values.seconds)
  if (!(seconds > 0 && seconds <= 60)) problems.push(`--seconds: "${values.seconds}" is not between 0 and 60`)
  if (problems.length > 0) throw new Error(problems.join('\n'))
  return { rounds, measureMs: seconds * 1000, only, subjects: chosenSubjects, json: values.json }
}
