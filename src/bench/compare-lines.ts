/** Compares benchmark lines with an earlier result, or with another state of the code. */
import type { RateSample } from './request.ts'
import type { BenchComparison, BenchLine, LineName } from './result.ts'
import { compareAll, failsBy, type Compared } from './statistics.ts'

export interface Baseline {
  readonly name: string
  readonly lines: readonly BenchLine[]
}

export interface CompareOptions {
  readonly other: Baseline
  readonly again: readonly number[]
  /** whether both were sampled in the same rounds */
  readonly paired: boolean
  readonly failOver: number | undefined
}

export function comparisonWith(
  lines: readonly BenchLine[],
  { other, again, paired, failOver }: CompareOptions,
): BenchComparison {
  const common = lines.filter(({ name }) => name !== 'limit' && other.lines.some((line) => line.name === name))
  const pairs = common.map((line): Compared => {
    const before = other.lines.find(({ name }) => name === line.name) ?? line
    return paired
      ? { before: costsOf(before.samples), after: costsOf(line.samples), paired }
      : { ...besideLimits(other.lines, before, lines, line), paired }
  })
  const compared = compareAll(pairs)
  const [first] = lines.filter(({ name }) => name !== 'limit')
  const [equalCode] =
    first === undefined ? [] : compareAll([{ before: again, after: costsOf(first.samples), paired: true }])
  const isTooNoisy = equalCode?.verdict === 'better' || equalCode?.verdict === 'worse'
  const failed = compared.flatMap((one, i): LineName[] => {
    const name = common[i]?.name
    return name !== undefined && !isTooNoisy && failOver !== undefined && failsBy(one, failOver) ? [name] : []
  })
  return {
    with: other.name,
    ...(equalCode !== undefined && { equalCode }),
    lines: compared.map((one, i) => ({ name: common[i]?.name ?? 'none', ...one })),
    isTooNoisy,
    ...(failOver !== undefined && { gate: { share: failOver, failed } }),
  }
}

/** Returns the CPU time per message, ns. */
export function costsOf(samples: readonly RateSample[]): readonly number[] {
  return samples.map(({ messages, cpuMs }) => (cpuMs * 1e6) / messages)
}

/** Dividing by the limit's cost, where both have one, cancels out the state of the machine. */
function besideLimits(
  oldLines: readonly BenchLine[],
  old: BenchLine,
  newLines: readonly BenchLine[],
  now: BenchLine,
): { before: readonly number[]; after: readonly number[] } {
  const limitOf = (lines: readonly BenchLine[]) => lines.find(({ name }) => name === 'limit')
  const [there, here] = [limitOf(oldLines), limitOf(newLines)]
  if (there === undefined || here === undefined) return { before: costsOf(old.samples), after: costsOf(now.samples) }
  return { before: inUnits(old, there), after: inUnits(now, here) }
}

function inUnits(line: BenchLine, limit: BenchLine): readonly number[] {
  const units = costsOf(limit.samples)
  return costsOf(line.samples).map((cost, i) => cost / (units[i] ?? 1))
}
