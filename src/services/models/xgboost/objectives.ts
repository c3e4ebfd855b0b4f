/** Objectives of XGBoost, which transform the sum of the trees and the base score. */

export interface Objective {
  readonly name: string
  readonly marginOf: (base: number) => number
  readonly predictionOf: (sums: Float32Array) => number | readonly number[]
}

const { fround } = Math

export function objectiveOf(name: string): Objective | undefined {
  const known = KNOWN.find(([names]) => names.includes(name))
  if (known === undefined) return undefined
  const [, marginOf, predictionOf] = known
  return { name, marginOf, predictionOf }
}

const same = (value: number): number => value

function logit(base: number): number {
  return fround(-Math.log(fround(fround(1 / base) - 1)))
}

function sigmoid(sum: number): number {
  // the library clamps the exponent to the range of 32-bit floats
  const power = fround(Math.exp(Math.min(-sum, 88.7)))
  return fround(1 / fround(power + 1))
}

function each(of: (sum: number) => number) {
  return (sums: Float32Array): number | readonly number[] => {
    return sums.length === 1 ? of(sums[0] ?? 0) : Array.from(sums, of)
  }
}

function softmax(sums: Float32Array): readonly number[] {
  const most = Math.max(...sums)
  const powers = Array.from(sums, (sum) => fround(Math.exp(fround(sum - most))))
  const total = powers.reduce((sum, power) => fround(sum + power), 0)
  return powers.map((power) => fround(power / total))
}

function largest(sums: Float32Array): number {
  let best = 0
  sums.forEach((sum, at) => {
    if (sum > (sums[best] ?? 0)) best = at
  })
  return best
}

const exponential = (sum: number): number => fround(Math.exp(sum))
const logarithm = (base: number): number => fround(Math.log(base))

const KNOWN: readonly (readonly [
  names: readonly string[],
  marginOf: Objective['marginOf'],
  predictionOf: Objective['predictionOf'],
])[] = [
  [
    [
      'reg:squarederror',
      'reg:linear',
      'reg:squaredlogerror',
      'reg:pseudohubererror',
      'reg:absoluteerror',
      'reg:quantileerror',
      'rank:pairwise',
      'rank:ndcg',
      'rank:map',
    ],
    same,
    each(same),
  ],
  [['binary:logistic', 'reg:logistic'], logit, each(sigmoid)],
  [['binary:logitraw'], same, each(same)],
  [['binary:hinge'], same, each((sum) => (sum > 0 ? 1 : 0))],
  [['count:poisson', 'reg:gamma', 'reg:tweedie', 'survival:cox', 'survival:aft'], logarithm, each(exponential)],
  [['multi:softprob'], same, softmax],
  [['multi:softmax'], same, largest],
]
