/** `--against REF`: compares the working tree with another state of the code, in paired samples. */
import { compareAll, failsBy, FEWEST_ROUNDS, type Comparison as Compared } from '../src/bench/statistics.ts'
import { digits, median } from './figures.ts'
import type { Line, Section } from './measurement.ts'
import { checkOut } from '../src/bench/other-checkout.ts'
import { table } from './report.ts'
import { ROOT } from './rounds.ts'

/** Cost of a line in both checkouts, a pair per round; lower is better. */
export interface Comparison {
  measurement: string
  line: string
  title: string
  unit: string
  pairs: { tree: number; ref: number }[]
  failure?: string
}

export interface Against {
  commit: string
  comparisons: readonly Comparison[]
}

export async function compare(
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
export function slowerLines({ comparisons }: Against, share: number): readonly string[] {
  return [...verdicts(comparisons)].flatMap(([{ measurement, title }, compared]) =>
    failsBy(compared, share) ? [`${measurement}, ${title}: x ${compared.ratio.value.toFixed(3)}`] : [],
  )
}

/** Ratios above 1: the working tree is better. */
export function againstReport(ref: string, { commit, comparisons }: Against): string {
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
