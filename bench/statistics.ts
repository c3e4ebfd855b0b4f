/** Intervals of ratios from few samples: what may be said of a figure that every run gives a little differently. */
import { nextSeed, randomOf } from '../src/kernel/random.ts'

/** A figure with the interval in which it lies with 95 %. */
export interface Estimate {
  readonly value: number
  /** equal to `value` when there is one sample: nothing is known of how it scatters */
  readonly low: number
  readonly high: number
}

const RESAMPLES = 2000
const SEED = 8_219_003

/**
 * The geometric mean of positive values with its 95 % interval: a bootstrap over them, whose percentiles are moved out as
 * far as Student's t is wider than the normal distribution (T. Hesterberg, "What teachers should know about the
 * bootstrap", 2015: "expanded percentile"). Of a handful of values the plain percentiles are far too narrow.
 */
export function estimate(values: readonly number[]): Estimate {
  const logs = values.map(Math.log)
  const middle = mean(logs)
  const n = logs.length
  if (n < 2) return { value: Math.exp(middle), low: Math.exp(middle), high: Math.exp(middle) }
  const means: number[] = []
  let seed = SEED
  for (let i = 0; i < RESAMPLES; i++) {
    let sum = 0
    for (let k = 0; k < n; k++) {
      seed = nextSeed(seed)
      sum += logs[Math.floor(randomOf(seed) * n)] ?? 0
    }
    means.push(sum / n)
  }
  means.sort((a, b) => a - b)
  const tail = normalCdf(-Math.sqrt(n / (n - 1)) * studentQuantile(n - 1))
  return { value: Math.exp(middle), low: Math.exp(quantile(means, tail)), high: Math.exp(quantile(means, 1 - tail)) }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

/** Between the two nearest of sorted values. */
function quantile(sorted: readonly number[], share: number): number {
  const at = share * (sorted.length - 1)
  const below = sorted[Math.floor(at)] ?? Number.NaN
  const above = sorted[Math.ceil(at)] ?? Number.NaN
  return below + (above - below) * (at - Math.floor(at))
}

/** 0.975 quantile of Student's t by degrees of freedom, from 1 on; from 30 on that of the normal one is near enough. */
const T_975 = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11,
  2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045,
]

function studentQuantile(freedom: number): number {
  return T_975[freedom - 1] ?? 1.96 + 2.4 / freedom
}

/** Abramowitz and Stegun 26.2.17, right to 7 digits. */
function normalCdf(z: number): number {
  const t = 1 / (1 + 0.231_641_9 * Math.abs(z))
  const poly = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
  const upper = (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * poly
  return z > 0 ? 1 - upper : upper
}
