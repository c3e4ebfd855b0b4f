/** Computes the accumulators of `measure` from its history. */
import { slackOf } from '#plug'
import type { History, Totals } from './history.ts'
import { totalsOf } from './history.ts'

export const ACCUMULATORS = [
  'last',
  'previous',
  'first',
  'change',
  'rate',
  'slope',
  'increase',
  'edges',
  'timeAbove',
  'timeWeightedMean',
  'integral',
  'exponentialMean',
  'zScore',
  'deadband',
] as const
export type Accumulator = (typeof ACCUMULATORS)[number]

/** Those that need a duration. */
export const OVER_DURATION: readonly Accumulator[] = ['slope', 'zScore', 'exponentialMean']
/** Those that fold samples one by one, and whose memory needs no samples. */
export const FOLDING: readonly Accumulator[] = ['exponentialMean', 'deadband', 'last', 'previous', 'first']

export const UNITS = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 } as const

export interface Reach {
  /** ms; infinite: all samples */
  readonly duration: number
  /** epoch ms */
  readonly end: number
  /** s of the unit */
  readonly unit: number
  readonly threshold: number
}

export interface Measured {
  readonly value: number
  /** tolerance of comparisons with limits */
  readonly slack: number
}

/** Undefined while there are too few samples. */
export function measured(which: Accumulator, history: History, reach: Reach): Measured | undefined {
  const { first, last, previous } = history
  if (first === null || last === null) return undefined
  switch (which) {
    case 'last':
      return exactly(last.value)
    case 'first':
      return exactly(first.value)
    case 'previous':
      return previous === null ? undefined : exactly(previous.value)
    case 'deadband':
      return exactly(history.folded)
    case 'exponentialMean':
      return roughly(history.folded)
    case 'change':
    case 'rate':
      return changed(which === 'rate', history, reach)
    case 'increase':
      return roughly(totalsOf(history)[10])
    case 'edges':
      return exactly(totalsOf(history)[9])
    case 'timeAbove':
    case 'integral':
    case 'timeWeightedMean':
      return held(which, history, reach)
    case 'slope': {
      const [, , , times, products] = totalsOf(history)
      return times === 0 ? undefined : roughly((products / times) * reach.unit)
    }
    case 'zScore':
      return scored(last.value, history.earlier)
  }
}

function exactly(value: number): Measured {
  return { value, slack: 0 }
}

function roughly(value: number): Measured {
  return { value, slack: slackOf(value) }
}

/** Without a duration, since the sample before; with one, since the value that held at its begin. */
function changed(isRate: boolean, { last, previous, before }: History, reach: Reach): Measured | undefined {
  const from = reach.duration === Number.POSITIVE_INFINITY ? previous : before
  if (last === null || from === null) return undefined
  const value = last.value - from.value
  const slack = slackOf(Math.max(Math.abs(last.value), Math.abs(from.value)))
  if (!isRate) return { value, slack }
  const units = (last.at - from.at) / 1000 / reach.unit
  return units > 0 ? { value: value / units, slack: slack / units } : undefined
}

/** Sums over what each value held, clipped to the reach; the last value holds until its end. */
function held(
  which: 'timeAbove' | 'integral' | 'timeWeightedMean',
  history: History,
  { duration, end, unit, threshold }: Reach,
): Measured | undefined {
  const { last, before, queue, head } = history
  if (last === null) return undefined
  const [, , , , , , area, length, above] = totalsOf(history)
  const begin = end - duration
  const open = Math.max(0, end - Math.max(last.at, begin)) / 1000
  // the segment from `before` to the oldest sample began before the reach
  const oldest = queue[head]
  const outside = before !== null && oldest !== undefined ? Math.max(0, begin - before.at) / 1000 : 0
  const isAbove = (value: number) => Number(value > threshold)
  const heldBefore = before?.value ?? 0
  const time = length + open - outside
  if (which === 'timeAbove') return roughly((above + open * isAbove(last.value) - outside * isAbove(heldBefore)) / unit)
  const sum = area + open * last.value - outside * heldBefore
  if (which === 'integral') return roughly(sum / unit)
  return time > 0 ? roughly(sum / time) : exactly(last.value)
}

function scored(value: number, [count, , mean, , , squares]: Totals): Measured | undefined {
  if (count < 2) return undefined
  const deviation = Math.sqrt(squares / (count - 1))
  if (deviation <= slackOf(mean)) return Math.abs(value - mean) <= slackOf(mean) ? exactly(0) : undefined
  return roughly((value - mean) / deviation)
}
