/**
 * Sums and moments over samples that each hold until the next one, in amortized constant time; plain JSON changed in
 * place. Nothing is subtracted, so rounding errors do not accumulate: a queue as two stacks.
 */
import { keptPlain } from '#plug'

/**
 * Of some samples in a row: number, means of times and values, their moments (times: s since the first sample ever), then
 * sums over the segments that end at each sample: held value times s, s, s above the threshold, crossings, gain.
 */
export type Totals = readonly [
  count: number,
  time: number,
  value: number,
  times: number,
  products: number,
  squares: number,
  area: number,
  length: number,
  above: number,
  crossings: number,
  gain: number,
]

export interface Sample {
  /** epoch ms */
  readonly at: number
  readonly value: number
  readonly totals: Totals
}

export interface History {
  first: Sample | null
  last: Sample | null
  /** the sample before the last */
  previous: Sample | null
  /** the newest sample that is out of reach, whose value holds at the begin of the reach */
  before: Sample | null
  /** samples in reach of a duration, the oldest at `head`; empty without a duration */
  readonly queue: Sample[]
  head: number
  /** for each sample of the front: totals of it and of all later ones of the front; the oldest last */
  readonly front: Totals[]
  back: Totals
  /** totals of the samples in reach when the last one came, without it */
  earlier: Totals
  /** number of samples so far */
  count: number
  /** value of an accumulator that folds samples one by one */
  folded: number
  /** samples that were older than the last one */
  late: number
}

const MAX_SAMPLES = 10_000
const NONE: Totals = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]

export function historyOf(state: unknown): History {
  return keptPlain(
    isHistory(state)
      ? state
      : {
          first: null,
          last: null,
          previous: null,
          before: null,
          queue: [],
          head: 0,
          front: [],
          back: NONE,
          earlier: NONE,
          count: 0,
          folded: 0,
          late: 0,
        },
  )
}

function isHistory(state: unknown): state is History {
  return typeof state === 'object' && state !== null && 'queue' in state && 'folded' in state
}

export interface Step {
  readonly crossings: number
  readonly gain: number
  readonly threshold: number
  /** ms; infinite: all samples count */
  readonly duration: number
}

/** Adds a sample, which must not be older than the last. */
export function addSample(history: History, at: number, value: number, step: Step): void {
  const { last, first } = history
  const length = last === null ? 0 : (at - last.at) / 1000
  const held = last?.value ?? 0
  const totals: Totals = [
    1,
    (at - (first?.at ?? at)) / 1000,
    value,
    0,
    0,
    0,
    held * length,
    length,
    held > step.threshold ? length : 0,
    step.crossings,
    step.gain,
  ]
  const sample = { at, value, totals }
  history.first ??= sample
  history.previous = last
  history.last = sample
  history.count++
  moveTo(history, at, step.duration)
  history.earlier = totalsOf(history)
  history.back = merged(history.back, totals)
  if (step.duration === Number.POSITIVE_INFINITY) return
  history.queue.push(sample)
  moveTo(history, at, step.duration)
}

/** Drops the samples that are out of reach of a window that ends at `end`. */
export function moveTo(history: History, end: number, duration: number): void {
  const { queue } = history
  for (;;) {
    const oldest = queue[history.head]
    if (oldest === undefined || (oldest.at > end - duration && queue.length - history.head <= MAX_SAMPLES)) return
    if (history.front.length === 0) turnOver(history)
    history.front.pop()
    history.head++
    history.before = oldest
  }
}

function turnOver(history: History): void {
  history.queue.splice(0, history.head)
  history.head = 0
  let totals = NONE
  for (const sample of history.queue.toReversed()) {
    totals = merged(sample.totals, totals)
    history.front.push(totals)
  }
  history.back = NONE
}

/** Totals of the samples in reach. */
export function totalsOf(history: History): Totals {
  return merged(history.front.at(-1) ?? NONE, history.back)
}

function merged(a: Totals, b: Totals): Totals {
  if (a[0] === 0) return b
  if (b[0] === 0) return a
  const count = a[0] + b[0]
  const [time, value] = [b[1] - a[1], b[2] - a[2]]
  const weight = (a[0] * b[0]) / count
  return [
    count,
    a[1] + (time * b[0]) / count,
    a[2] + (value * b[0]) / count,
    a[3] + b[3] + time * time * weight,
    a[4] + b[4] + time * value * weight,
    a[5] + b[5] + value * value * weight,
    a[6] + b[6],
    a[7] + b[7],
    a[8] + b[8],
    a[9] + b[9],
    a[10] + b[10],
  ]
}
