/**
 * Evaluates noisy figures statistically, comparing ratios on a logarithmic scale.
 *
 * STATISTICS-1 equal code gets a verdict in at most 1 of 20 runs, however many lines a run has
 * STATISTICS-2 below six rounds verdicts are withheld
 */
import { nextSeed, randomOf } from '#kernel'

export interface Estimate {
  readonly value: number
  /** `low` and `high` equal `value` for a single sample, whose spread is unknown */
  readonly low: number
  readonly high: number
}

export const FEWEST_ROUNDS = 6
const LEVEL = 0.05
const RESAMPLES = 2000
const SEED = 8_219_003

/**
 * Geometric mean with its 95 % interval: a bootstrap with T. Hesterberg's "expanded percentile" (2015), because plain
 * percentiles are far too narrow for a handful of values.
 */
export function estimate(values: readonly number[]): Estimate {
  const logs = values.map(Math.log)
  const middle = mean(logs)
  const n = logs.length
  if (n < 2) return { value: Math.exp(middle), low: Math.exp(middle), high: Math.exp(middle) }
  const means = resampledMeans(logs)
  const tail = normalCdf(-Math.sqrt(n / (n - 1)) * studentQuantile(n - 1))
  return { value: Math.exp(middle), low: Math.exp(quantile(means, tail)), high: Math.exp(quantile(means, 1 - tail)) }
}

/** Costs of two states that were sampled together: as pairs when both come from each round. Lower is better. */
export interface Compared {
  readonly before: readonly number[]
  readonly after: readonly number[]
  readonly paired: boolean
}

export type Verdict = 'better' | 'worse' | 'no difference' | 'too few rounds'

export interface Comparison {
  /** above 1 when `after` costs less */
  readonly ratio: Estimate
  readonly p: number
  readonly verdict: Verdict
}

/** Compares lines and corrects for their number, since many lines would otherwise produce verdicts by chance. */
export function compareAll(lines: readonly Compared[]): readonly Comparison[] {
  const tests = lines.map(testOf)
  const corrected = holm(tests.map(({ p }) => p))
  return tests.map(({ ratio, rounds }, i) => {
    const p = corrected[i] ?? 1
    const verdict =
      rounds < FEWEST_ROUNDS ? 'too few rounds' : p > LEVEL ? 'no difference' : ratio.value > 1 ? 'better' : 'worse'
    return { ratio, p, verdict }
  })
}

export function failsBy(comparison: Comparison, share: number): boolean {
  return comparison.verdict === 'worse' && comparison.ratio.high < 1 - share
}

/** Applies Student's t-test to the log ratio: for pairs, or for two lists of unequal variance (Welch). */
function testOf({ before, after, paired }: Compared): { ratio: Estimate; p: number; rounds: number } {
  const [old, now] = [before.map(Math.log), after.map(Math.log)]
  const rounds = Math.min(old.length, now.length)
  const differences = old.slice(0, rounds).map((value, i) => value - (now[i] ?? 0))
  const difference = paired ? mean(differences) : mean(old) - mean(now)
  const one = (values: readonly number[]) => variance(values) / values.length
  const error = Math.sqrt(paired ? one(differences) : one(old) + one(now))
  const freedom = paired
    ? rounds - 1
    : (one(old) + one(now)) ** 2 / (one(old) ** 2 / (old.length - 1) + one(now) ** 2 / (now.length - 1))
  if (rounds < 2 || !(freedom > 0)) {
    const value = Math.exp(difference)
    return { ratio: { value, low: value, high: value }, p: rounds < 2 || difference === 0 ? 1 : 0, rounds }
  }
  const reach = error * studentQuantile(freedom)
  const ratio = { value: Math.exp(difference), low: Math.exp(difference - reach), high: Math.exp(difference + reach) }
  return { ratio, p: error === 0 ? (difference === 0 ? 1 : 0) : studentTails(difference / error, freedom), rounds }
}

function holm(probabilities: readonly number[]): readonly number[] {
  const order = [...probabilities.keys()].sort((a, b) => (probabilities[a] ?? 1) - (probabilities[b] ?? 1))
  const corrected = [...probabilities]
  let largest = 0
  for (const [rank, index] of order.entries()) {
    largest = Math.max(largest, Math.min(1, (probabilities[index] ?? 1) * (order.length - rank)))
    corrected[index] = largest
  }
  return corrected
}

function resampledMeans(values: readonly number[]): readonly number[] {
  const means: number[] = []
  let seed = SEED
  for (let i = 0; i < RESAMPLES; i++) {
    let sum = 0
    for (let k = 0; k < values.length; k++) {
      seed = nextSeed(seed)
      sum += values[Math.floor(randomOf(seed) * values.length)] ?? 0
    }
    means.push(sum / values.length)
  }
  return means.sort((a, b) => a - b)
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function variance(values: readonly number[]): number {
  const middle = mean(values)
  return values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1)
}

function quantile(sorted: readonly number[], share: number): number {
  const at = share * (sorted.length - 1)
  const below = sorted[Math.floor(at)] ?? Number.NaN
  const above = sorted[Math.ceil(at)] ?? Number.NaN
  return below + (above - below) * (at - Math.floor(at))
}

function studentQuantile(freedom: number): number {
  let [low, high] = [0, 1000]
  for (let i = 0; i < 60; i++) {
    const middle = (low + high) / 2
    if (studentTails(middle, freedom) > LEVEL) low = middle
    else high = middle
  }
  return high
}

function studentTails(t: number, freedom: number): number {
  return incompleteBeta(freedom / (freedom + t * t), freedom / 2, 0.5)
}

function incompleteBeta(x: number, a: number, b: number): number {
  if (x <= 0) return 0
  if (x >= 1) return 1
  if (x > (a + 1) / (a + b + 2)) return 1 - incompleteBeta(1 - x, b, a)
  const tiny = 1e-300
  const front = Math.exp(a * Math.log(x) + b * Math.log(1 - x) + logGamma(a + b) - logGamma(a) - logGamma(b)) / a
  let [c, d] = [1, 1 / nonZero(1 - ((a + b) * x) / (a + 1), tiny)]
  let fraction = d
  for (let m = 1; m < 300; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m))
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))
    for (const step of [even, odd]) {
      d = 1 / nonZero(1 + step * d, tiny)
      c = nonZero(1 + step / c, tiny)
      fraction *= c * d
    }
    if (Math.abs(c * d - 1) < 1e-12) break
  }
  return front * fraction
}

function nonZero(value: number, tiny: number): number {
  return Math.abs(value) < tiny ? tiny : value
}

/** Uses Stirling's series, after shifting the argument to where the series is accurate. */
function logGamma(x: number): number {
  let shift = 0
  let z = x
  for (; z < 10; z++) shift += Math.log(z)
  const series = 1 / (12 * z) - 1 / (360 * z ** 3) + 1 / (1260 * z ** 5)
  return (z - 0.5) * Math.log(z) - z + Math.log(2 * Math.PI) / 2 + series - shift
}

/** Abramowitz and Stegun, formula 26.2.17, accurate to 7 digits. */
function normalCdf(z: number): number {
  const t = 1 / (1 + 0.231_641_9 * Math.abs(z))
  const poly = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
  const upper = (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * poly
  return z > 0 ? 1 - upper : upper
}
