/**
 * Random series and queries over them: gaps, repeated and late samples, texts and truth values, and days on which the
 * clocks of five zones change.
 */
import { nextSeed, randomOf } from '../../../src/kernel/random.ts'
import type { SampleValue } from '../../../src/storage/contract.ts'

export interface JudgedCase {
  readonly id: number
  /** samples in the order of their arrival, by metric; all of the resource `r` */
  readonly series: Readonly<Record<string, readonly (readonly [time: number, value: SampleValue])[]>>
  readonly query: Readonly<Record<string, unknown>>
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const METRICS = ['a', 'b', 'c']
const EVEN = ['PT5M', 'PT1H', 'PT90M', 'PT8H', 'P1D', 'P7D', 'PT13.5S']
const CALENDAR = ['P1D', 'P2D', 'P1W', 'P1M', 'P3M', 'P1Y']
const WIDTHS: Readonly<Record<string, number>> = {
  PT5M: 5 * MINUTE,
  PT1H: HOUR,
  PT90M: 90 * MINUTE,
  PT8H: 8 * HOUR,
  P1D: DAY,
  P2D: 2 * DAY,
  P7D: 7 * DAY,
  'PT13.5S': 13_500,
  P1W: 7 * DAY,
  P1M: 30 * DAY,
  P3M: 91 * DAY,
  P1Y: 365 * DAY,
}
/** Zones, each with days around one of its changes: in Sao Paulo midnight itself is left out. */
const ZONES: readonly (readonly [string, readonly string[]])[] = [
  ['Europe/Brussels', ['2024-03-31', '2024-10-27']],
  ['America/New_York', ['2024-03-10', '2024-11-03']],
  ['Australia/Lord_Howe', ['2024-04-07', '2024-10-06']],
  ['America/Sao_Paulo', ['2018-11-04', '2018-02-18']],
  ['Asia/Kolkata', ['2024-02-29', '2023-12-31']],
]
const PLAIN = [
  'mean',
  'median',
  'min',
  'max',
  'sum',
  'count',
  'first',
  'last',
  'std',
  'count-numeric',
  'count-non-numeric',
]
const METHODS = ['pad', 'backfill', 'fixed', 'linear', 'nearest', 'zero', 'slinear', 'quadratic', 'cubic', 'polynomial']
const MORE_METHODS = ['spline', 'from_derivatives', 'pchip', 'akima', 'last']

/** The case of a number: the same number gives the same. */
export function randomCase(id: number): JudgedCase {
  const draw = new Draw(id * 7_919 + 1)
  const isZoned = draw.chance(0.3)
  const [zone, days] = draw.of(ZONES)
  const isGrouped = draw.chance(0.85)
  const freq = draw.of(isZoned ? CALENDAR : EVEN)
  const width = WIDTHS[freq] ?? HOUR
  const buckets = draw.whole(1, 24)
  const middle = Date.parse(draw.of(days)) + draw.whole(0, DAY)
  const span = Math.max(width * buckets, 2)
  const from = middle - draw.whole(0, span - 1)
  const until = from + span
  const metrics = METRICS.slice(0, draw.whole(1, METRICS.length))
  const data = metrics.map((metric) => ({
    metric,
    ...(draw.chance(0.9) && {
      aggregation: draw.chance(0.2) ? `percentile(${draw.whole(0, 100) / 100})` : draw.of(PLAIN),
    }),
    ...(draw.chance(0.6) && { interpolation: interpolation(draw) }),
  }))
  const query = {
    resource: 'r',
    from,
    until,
    data,
    ...(isGrouped && { freq, ...(isZoned && { align: { timezone: zone } }) }),
  }
  const kind = draw.of(['numbers', 'numbers', 'numbers', 'whole', 'mixed', 'far'])
  return {
    id,
    series: Object.fromEntries(metrics.map((metric) => [metric, samples(draw, from, until, width, kind)])),
    query,
  }
}

function interpolation(draw: Draw): unknown {
  const method = draw.of([...METHODS, ...MORE_METHODS])
  const limit = draw.chance(0.25) ? { limit: draw.whole(1, 3) } : {}
  const order = method === 'polynomial' || method === 'spline' ? { order: draw.whole(1, 5) } : {}
  return { method, ...(method === 'fixed' && { value: draw.whole(-9, 9) }), ...order, ...limit }
}

type Samples = JudgedCase['series'][string]

function samples(draw: Draw, from: number, until: number, width: number, kind: string): Samples {
  const count = draw.chance(0.05) ? 0 : draw.whole(1, 40)
  // also outside of what is asked
  const [first, last] = [from - width, until + width]
  // a gap that nothing is in
  const gap = draw.whole(first, last)
  const gapLength = draw.whole(0, Math.floor((last - first) / 2))
  const all: (readonly [number, SampleValue])[] = []
  for (let i = 0; i < count; i += 1) {
    const time = draw.whole(first, last)
    if (time >= gap && time < gap + gapLength) continue
    all.push([time, value(draw, kind)])
    const before = all[draw.whole(0, all.length - 1)]
    if (draw.chance(0.15) && before !== undefined) all.push([before[0], value(draw, kind)])
  }
  return all
}

function value(draw: Draw, kind: string): SampleValue {
  if (kind === 'whole') return draw.whole(-50, 50)
  if (kind === 'far') return 1e9 + draw.whole(0, 1_000) / 1_000
  if (kind === 'mixed' && draw.chance(0.3)) return draw.of<SampleValue>(['on', 'off', '', true, false])
  return Math.round((draw.next() - 0.5) * 2e6) / 1e3
}

class Draw {
  #seed: number

  constructor(seed: number) {
    this.#seed = seed
  }

  next(): number {
    this.#seed = nextSeed(this.#seed)
    return randomOf(this.#seed)
  }

  whole(from: number, until: number): number {
    return from + Math.floor(this.next() * (until - from + 1))
  }

  chance(share: number): boolean {
    return this.next() < share
  }

  of<T>(list: readonly T[]): T {
    const one = list[this.whole(0, list.length - 1)]
    if (one === undefined) throw new Error('nothing to choose from')
    return one
  }
}
