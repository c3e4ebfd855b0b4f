/** Runs the chosen measurements and prints tables or JSON, or compares with another state of the code. */
import { parseArgs } from 'node:util'
import { originOf } from '../src/bench/machine.ts'
import { checkOut } from '../src/bench/other-checkout.ts'
import { compareAll, type Comparison as Compared, failsBy, FEWEST_ROUNDS } from '../src/bench/statistics.ts'
import { digits, median } from './figures.ts'
import type { Line, Scope, Section } from './measurement.ts'
import { isCell } from './measurements/cells.ts'
import { groups, measurements } from './measurements/index.ts'
import { ensurePeers } from './peers.ts'
import { failures, report, table } from './report.ts'
import { ROOT, runRounds } from './rounds.ts'
import { OWN, subjects } from './subjects/index.ts'

/**
 * Returns the exit code: 0, 1 when a line failed, 2 when one is slower than `--fail-over` allows. Throws an Error for
 * invalid options.
 */
export async function bench(args: readonly string[]): Promise<number> {
  const options = readOptions(args)
  if (options === undefined) {
    process.stdout.write(HELP)
    return 0
  }
  const sections = options.only.flatMap((name) => measurements.get(name)?.open(options) ?? [])
  if (sections.some(({ lines }) => lines.some(({ needsPeers }) => needsPeers))) ensurePeers()
  return options.against === undefined ? measure(sections, options) : against(sections, options, options.against)
}

const progress = (text: string) => void process.stderr.write(`bench: ${text}\n`)

async function measure(sections: readonly Section[], options: Options): Promise<number> {
  const origin = originOf(ROOT)
  await runRounds(sections, options.rounds, progress)
  if (options.json) {
    const lines = sections.map(({ name, title, lines: all, rows, conclusions }) => {
      const [head, ...body] = rows()
      return {
        name,
        title,
        table: { head, rows: body },
        conclusions: conclusions(),
        lines: all.map((line) => {
          const { failure } = line
          return {
            name: line.name,
            title: line.title,
            samples: line.samples,
            ...(failure !== undefined && { failure }),
          }
        }),
      }
    })
    print({ ...origin, options, measurements: lines })
  } else {
    const { cpu, cores } = origin.machine
    process.stdout.write(
      `Node ${origin.node}, ${cores} cores of ${cpu}, commit ${origin.commit?.slice(0, 10) ?? 'unknown'}, ${origin.date}\n` +
        `Median of up to ${options.rounds} rounds, CPU time of the main thread\n\n${report(sections)}`,
    )
  }
  return exitCode(failures(sections))
}

async function against(sections: readonly Section[], options: Options, ref: string): Promise<number> {
  const origin = originOf(ROOT)
  const result = await compare(sections, { ref, rounds: options.rounds }, progress)
  if (options.json) print({ ...origin, options, against: result })
  else process.stdout.write(againstReport(ref, result))
  const code = exitCode(
    result.comparisons.flatMap(({ measurement, title, failure }) =>
      failure === undefined ? [] : [`${measurement}, ${title}: ${failure}`],
    ),
  )
  const slower = options.failOver === undefined ? [] : slowerLines(result, options.failOver)
  for (const line of slower) process.stderr.write(`*** significantly slower than --fail-over allows: ${line}\n`)
  return code === 0 && slower.length > 0 ? 2 : code
}

function print(result: object): void {
  process.stdout.write(`${JSON.stringify(result, null, 2)}\n`)
}

function exitCode(failed: readonly string[]): number {
  if (failed.length === 0) return 0
  process.stderr.write(`\n*** ${failed.length} FAILED\n${failed.map((line) => `*** ${line}\n`).join('')}`)
  return 1
}

interface Options extends Scope {
  rounds: number
  only: readonly string[]
  json: boolean
  against?: string
  /** tolerated slowdown against the ref, as a share */
  failOver?: number
}

const HELP = `npm run bench -- [options]

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
function readOptions(args: readonly string[]): Options | undefined {
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
  const requested = values.only?.split(',').map((name) => name.trim()) ?? []
  const cells = requested.filter((name) => !measurements.has(name) && isCell(name))
  // cells imply their measurement
  const names = [...new Set(requested.map((name) => (cells.includes(name) ? 'cells' : name)))]
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

/** Cost of a line in both checkouts, a pair per round; lower is better. */
interface Comparison {
  measurement: string
  line: string
  title: string
  unit: string
  pairs: { tree: number; ref: number }[]
  failure?: string
}

interface Against {
  commit: string
  comparisons: readonly Comparison[]
}

async function compare(
  sections: readonly Section[],
  { ref, rounds }: { ref: string; rounds: number },
  progress: (text: string) => void,
): Promise<Against> {
  const other = checkOut(ROOT, ref, ['bench', 'src/bench'])
  const stop = () => {
    other.remove()
    process.exit(1)
  }
  process.once('SIGINT', stop).once('SIGTERM', stop)
  try {
    const jobs = sections.flatMap((section) =>
      section.lines.map((line) => {
        const comparison: Comparison = {
          measurement: section.name,
          line: line.name,
          title: line.title,
          unit: section.costUnit,
          pairs: [],
        }
        return { line, comparison }
      }),
    )
    for (let round = 1; round <= rounds; round++) {
      for (const { line, comparison } of jobs) {
        if (comparison.failure !== undefined) continue
        progress(`pair ${round} of ${rounds}: ${comparison.measurement}, ${line.title}`)
        try {
          // alternates the order
          comparison.pairs.push(await pairOf(line, other.root, round % 2 === 0))
        } catch (error) {
          comparison.failure = error instanceof Error ? error.message : String(error)
        }
      }
    }
    return { commit: other.commit, comparisons: jobs.map(({ comparison }) => comparison) }
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop)
    other.remove()
  }
}

async function pairOf(line: Line<unknown>, other: string, refFirst: boolean): Promise<{ tree: number; ref: number }> {
  if (refFirst) {
    const ref = line.cost(await line.sample(other))
    return { ref, tree: line.cost(await line.sample(ROOT)) }
  }
  const tree = line.cost(await line.sample(ROOT))
  return { tree, ref: line.cost(await line.sample(other)) }
}

function verdicts(comparisons: readonly Comparison[]): ReadonlyMap<Comparison, Compared> {
  const whole = comparisons.filter(({ failure }) => failure === undefined)
  const compared = compareAll(
    whole.map(({ pairs }) => {
      return { before: pairs.map(({ ref }) => ref), after: pairs.map(({ tree }) => tree), paired: true }
    }),
  )
  return new Map(whole.flatMap((one, i) => (compared[i] === undefined ? [] : [[one, compared[i]] as const])))
}

/** Lines with a significant slowdown of the working tree beyond the share. */
function slowerLines({ comparisons }: Against, share: number): readonly string[] {
  return [...verdicts(comparisons)].flatMap(([{ measurement, title }, compared]) =>
    failsBy(compared, share) ? [`${measurement}, ${title}: x ${compared.ratio.value.toFixed(3)}`] : [],
  )
}

/** Ratios above 1: the working tree is better. */
function againstReport(ref: string, { commit, comparisons }: Against): string {
  const known = verdicts(comparisons)
  const rows = comparisons.map((one) => {
    const { measurement, title, unit, pairs } = one
    const compared = known.get(one)
    if (compared === undefined) return [`${measurement}, ${title}`, 'FAILED']
    const { ratio, p, verdict } = compared
    return [
      `${measurement}, ${title}`,
      unit,
      digits(median(pairs.map((pair) => pair.ref))),
      digits(median(pairs.map((pair) => pair.tree))),
      `x ${ratio.value.toFixed(3)}`,
      ratio.low === ratio.high ? 'one round' : `${ratio.low.toFixed(3)} .. ${ratio.high.toFixed(3)}`,
      p.toFixed(3),
      verdict === 'too few rounds' ? `too few rounds (${FEWEST_ROUNDS} at least)` : verdict,
    ]
  })
  const title = `Working tree against ${ref} (${commit.slice(0, 10)}); above 1 the working tree is better; p for all lines together (Holm)`
  return table(title, [['what', 'unit', 'there', 'here', 'ratio', '95 %', 'p', ''], ...rows])
}
