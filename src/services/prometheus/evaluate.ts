/** Evaluates a parsed query at a list of times, over samples that were read before. */
import { AppError } from '#kernel'
import type { Aggregation, Expression, Matcher, Operator, RangeFunction } from './promql.ts'

export type Labels = Readonly<Record<string, string>>

/** Values at the times of an evaluation; NaN with `has` false: none */
export interface Line {
  readonly labels: Labels
  readonly values: Float64Array
  readonly has: Uint8Array
}

export interface Samples {
  readonly labels: Labels
  /** epoch ms, ascending */
  readonly times: ArrayLike<number>
  readonly values: ArrayLike<number>
}

export interface Evaluation {
  /** epoch ms, ascending */
  readonly times: Float64Array
  /** ms for which a sample is current */
  readonly lookback: number
  /** Returns the samples of a selector that arrived after `from` and not after `until`, epoch ms. */
  select(matchers: readonly Matcher[], from: number, until: number): Promise<readonly Samples[]>
  /** Counts the samples that the windows of one series visited, and lets other work go on. Throws when there are too many. */
  spend(samples: number): Promise<void>
}

/** Samples that the windows of one series may visit, without a pause for other work. */
const MAX_VISITS_OF_SERIES = 1_000_000

export function overlapping(): AppError {
  return new AppError(
    'TOO_LARGE',
    'the query is too large: its ranges overlap too often; use shorter ranges or a longer step',
  )
}

/** Returns a number for a query without series. */
export async function evaluate(expression: Expression, evaluation: Evaluation): Promise<number | readonly Line[]> {
  switch (expression.kind) {
    case 'number':
      return expression.value
    case 'select':
      return select(expression.matchers, evaluation)
    case 'range':
      return overRange(expression, evaluation)
    case 'group': {
      const lines = await evaluate(expression.of, evaluation)
      if (typeof lines === 'number')
        throw new AppError('VALIDATION', `${expression.name} expects series, but found a number`)
      return grouped(expression.name, expression.by, lines, evaluation.times.length)
    }
    case 'math': {
      const [left, right] = [await evaluate(expression.left, evaluation), await evaluate(expression.right, evaluation)]
      return calculated(expression.name, left, right)
    }
  }
}

async function select(matchers: readonly Matcher[], evaluation: Evaluation): Promise<readonly Line[]> {
  const { times, lookback } = evaluation
  const series = await evaluation.select(matchers, (times[0] ?? 0) - lookback, times.at(-1) ?? 0)
  const lines: Line[] = []
  for (const { labels, times: at, values } of series) {
    let next = 0
    const line = lineOf(labels, times, (time) => {
      while (next < at.length && (at[next] ?? 0) <= time) next++
      const last = next - 1
      return last >= 0 && (at[last] ?? 0) > time - lookback && !Number.isNaN(values[last]) ? values[last] : undefined
    })
    lines.push(line)
    await evaluation.spend(at.length)
  }
  return lines
}

async function overRange(
  { name, matchers, ms }: Extract<Expression, { kind: 'range' }>,
  evaluation: Evaluation,
): Promise<readonly Line[]> {
  const { times } = evaluation
  const series = await evaluation.select(matchers, (times[0] ?? 0) - ms, times.at(-1) ?? 0)
  const keepsName = name === 'last_over_time'
  const lines: Line[] = []
  for (const { labels, times: at, values } of series) {
    let [first, end, visits] = [0, 0, 0]
    const line = lineOf(keepsName ? labels : nameless(labels), times, (time) => {
      while (end < at.length && (at[end] ?? 0) <= time) end++
      while (first < end && (at[first] ?? 0) <= time - ms) first++
      visits += end - first
      if (visits > MAX_VISITS_OF_SERIES) throw overlapping()
      if (first === end) return undefined
      if (name === 'rate' || name === 'increase') return increase({ at, values, first, end }, time, ms, name === 'rate')
      return OVER[name](values, first, end)
    })
    lines.push(line)
    await evaluation.spend(visits)
  }
  return lines
}

type Over = (values: ArrayLike<number>, first: number, end: number) => number

const OVER: Readonly<Record<Exclude<RangeFunction, 'rate' | 'increase'>, Over>> = {
  avg_over_time: (values, first, end) => fold(values, first, end, 0, (sum, value) => sum + value) / (end - first),
  sum_over_time: (values, first, end) => fold(values, first, end, 0, (sum, value) => sum + value),
  min_over_time: (values, first, end) => fold(values, first, end, Number.POSITIVE_INFINITY, Math.min),
  max_over_time: (values, first, end) => fold(values, first, end, Number.NEGATIVE_INFINITY, Math.max),
  count_over_time: (_values, first, end) => end - first,
  last_over_time: (values, _first, end) => values[end - 1] ?? Number.NaN,
}

function fold(
  values: ArrayLike<number>,
  first: number,
  end: number,
  start: number,
  add: (sum: number, value: number) => number,
): number {
  let sum = start
  for (let i = first; i < end; i++) sum = add(sum, values[i] ?? 0)
  return sum
}

interface Window {
  readonly at: ArrayLike<number>
  readonly values: ArrayLike<number>
  readonly first: number
  readonly end: number
}

/** Extrapolates to the edges of the range as Prometheus does, with resets of the counter. */
function increase({ at, values, first, end }: Window, time: number, ms: number, isRate: boolean): number | undefined {
  const count = end - first
  if (count < 2) return undefined
  const last = end - 1
  let sum = (values[last] ?? 0) - (values[first] ?? 0)
  for (let i = first + 1; i < end; i++) {
    const before = values[i - 1] ?? 0
    if ((values[i] ?? 0) < before) sum += before
  }
  const sampled = (at[last] ?? 0) - (at[first] ?? 0)
  const mean = sampled / (count - 1)
  const reach = (gap: number): number => (gap >= mean * 1.1 ? mean / 2 : gap)
  const start = values[first] ?? 0
  const toStart = reach((at[first] ?? 0) - (time - ms))
  // a counter is not extrapolated below 0
  const toZero = sum > 0 && start >= 0 ? sampled * (start / sum) : toStart
  const total = sampled + Math.min(toStart, toZero) + reach(time - (at[last] ?? 0))
  return (sum * (total / sampled)) / (isRate ? ms / 1_000 : 1)
}

function grouped(name: Aggregation, by: readonly string[], lines: readonly Line[], length: number): readonly Line[] {
  const groups = new Map<string, { readonly labels: Labels; readonly lines: Line[] }>()
  for (const line of lines) {
    const labels = Object.fromEntries(by.flatMap((one) => (line.labels[one] ? [[one, line.labels[one]]] : [])))
    const key = JSON.stringify(Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    const group = groups.get(key)
    if (group === undefined) groups.set(key, { labels, lines: [line] })
    else group.lines.push(line)
  }
  return [...groups.values()].map(({ labels, lines: members }) => {
    const [values, has] = [new Float64Array(length), new Uint8Array(length)]
    for (let i = 0; i < length; i++) {
      const present = members.flatMap((line) => (line.has[i] === 1 ? [line.values[i] ?? 0] : []))
      if (present.length === 0) continue
      has[i] = 1
      values[i] = TOGETHER[name](present)
    }
    return { labels, values, has }
  })
}

const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0)
const TOGETHER: Readonly<Record<Aggregation, (values: readonly number[]) => number>> = {
  sum: total,
  avg: (values) => total(values) / values.length,
  min: (values) => values.reduce((least, value) => Math.min(least, value)),
  max: (values) => values.reduce((most, value) => Math.max(most, value)),
  count: (values) => values.length,
}

const CALCULATE: Readonly<Record<Operator, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
  '/': (a, b) => a / b,
}

function calculated(
  name: Operator,
  left: number | readonly Line[],
  right: number | readonly Line[],
): number | readonly Line[] {
  const apply = CALCULATE[name]
  if (typeof left === 'number') {
    if (typeof right === 'number') return apply(left, right)
    return right.map((line) => ({
      ...line,
      labels: nameless(line.labels),
      values: line.values.map((b) => apply(left, b)),
    }))
  }
  if (typeof right !== 'number') throw new AppError('VALIDATION', `${name} between series is not supported`)
  return left.map((line) => ({
    ...line,
    labels: nameless(line.labels),
    values: line.values.map((a) => apply(a, right)),
  }))
}

function nameless({ __name__: _name, ...labels }: Labels): Labels {
  return labels
}

function lineOf(labels: Labels, times: Float64Array, valueAt: (time: number) => number | undefined): Line {
  const [values, has] = [new Float64Array(times.length), new Uint8Array(times.length)]
  for (const [i, time] of times.entries()) {
    const value = valueAt(time)
    if (value === undefined) continue
    values[i] = value
    has[i] = 1
  }
  return { labels, values, has }
}
