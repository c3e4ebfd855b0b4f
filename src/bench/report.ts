/** Formats the result of a benchmark as text or Markdown. */
import { escapeMarkup } from '#kernel'
import { digits, rate } from './figures.ts'
import type { RateSample } from './request.ts'
import type { BenchComparison, BenchLine, BenchResult, LineName } from './result.ts'
import { type Comparison, type Estimate, FEWEST_ROUNDS } from './statistics.ts'

const TITLES: Readonly<Record<LineName, string>> = {
  limit: 'loop generated from the rule (limit)',
  none: 'without a subscriber',
  fired: 'a subscriber counts firings',
  all: 'a subscriber counts all events',
  why: 'a subscriber reads the why of firings',
}

const HEAD = ['', 'messages/s', '95 %', 'of the limit', '95 %', 'bytes', 'collections', 'other threads']

export type Layout = 'text' | 'markdown'

export function benchReport(result: BenchResult, layout: Layout): string {
  const { lines, comparison } = result
  const table = layout === 'text' ? textTable : markdownTable
  return [
    ...headOf(result),
    '',
    ...table([HEAD, ...lines.map(rowOf)]),
    '',
    ...notesOf(result).map((note) => (layout === 'markdown' ? `- ${note}` : note)),
    ...(comparison === undefined ? [] : ['', ...comparisonOf(comparison, table)]),
    '',
  ].join('\n')
}

export function latencyPlot({ rule, latency }: BenchResult): string {
  const points = [
    { x: 2, y: latency.p50 },
    { x: 10, y: latency.p90 },
    { x: 100, y: latency.p99 },
    { x: 1000, y: latency.p999 },
  ].map(({ x, y }) => ({ x, y: Math.max(y, 0.001) }))
  return plotSvg({
    title: `${rule}: delay from due to done`,
    x: 'one in this many messages is later',
    y: 'microseconds',
    series: [{ title: `${rate(latency.rate)} messages/s`, points, dashed: false }],
  })
}

function headOf({
  rule,
  messages,
  lookedAt,
  copies,
  rounds,
  firings,
  unheard,
  origin,
}: BenchResult): readonly string[] {
  const { node, machine, date } = origin
  const tasks = copies === 1 ? 'one task' : `${copies.toLocaleString('en')} tasks`
  const lost = unheard === 0 ? '' : `, ${unheard.toLocaleString('en')} of them for other resources`
  const fired = `${firings.toLocaleString('en')} ${firings === 1 ? 'firing' : 'firings'} in the first ${lookedAt.toLocaleString('en')}`
  return [
    `${rule}, ${messages.toLocaleString('en')} messages${lost}, ${tasks}; ${fired}`,
    `Node ${node}, ${machine.cores} cores of ${machine.cpu}, ${date}; ${rounds} rounds of fresh processes, CPU time of the main thread`,
  ]
}

function rowOf({ name, samples, rate: perSecond, ofLimit }: BenchLine): readonly string[] {
  const total = (of: (sample: RateSample) => number) => samples.reduce((sum, sample) => sum + of(sample), 0)
  const messages = total((sample) => sample.messages)
  const bytes = total((sample) => sample.bytes) / samples.length
  const collections = (total((sample) => sample.collections) / messages) * 1e6
  const others = total((sample) => sample.otherCpuMs) / total((sample) => sample.cpuMs)
  return [
    TITLES[name],
    rate(perSecond.value),
    interval(perSecond, rate),
    ofLimit === undefined ? '' : percent(ofLimit.value),
    ofLimit === undefined ? '' : interval(ofLimit, percent),
    digits(Math.round(bytes)),
    `${digits(collections)} per M`,
    `+ ${percent(others)}`,
  ]
}

function notesOf({ lines, latency, limits, limit }: BenchResult): readonly string[] {
  const { p50, p90, p99, p999, max } = latency
  const micros = (value: number) => (value >= 1000 ? `${digits(value / 1000)} ms` : `${digits(value)} µs`)
  const late = [
    `p50 ${micros(p50)}`,
    `p90 ${micros(p90)}`,
    `p99 ${micros(p99)}`,
    `p99.9 ${micros(p999)}`,
    `longest ${micros(max)}`,
  ]
  const backlog = p50 > 10_000 ? '; messages queue up: the rate exceeds a core, or the machine is busy' : ''
  return [
    `Delay at ${rate(latency.rate)} messages/s, from due to done: ${late.join(', ')}${backlog}`,
    ...lines.flatMap((line) => waysOf(line) ?? []),
    'reason' in limits
      ? `The rule does not have a limit: ${limits.reason}`
      : `The limit is the ${limit ?? 'loop'} that --json shows; it fires the same actuators at the same messages`,
  ]
}

function waysOf({ name, samples }: BenchLine): string | undefined {
  const all = samples.flatMap(({ ways }) => ways ?? [])
  if (all.length === 0) return undefined
  const sum = (of: (ways: (typeof all)[number]) => number) => all.reduce((total, ways) => total + of(ways), 0)
  const [vectorized, rows, plain] = [
    sum((ways) => ways.vectorized),
    sum((ways) => ways.rows),
    sum((ways) => ways.plain),
  ]
  const total = vectorized + rows + plain
  if (total === 0) return `Paths, ${TITLES[name]}: all messages were ignored`
  const reasons = Object.keys(all[0]?.why ?? {}) as (keyof (typeof all)[number]['why'])[]
  const why = reasons
    .map((reason) => ({ reason, count: sum((ways) => ways.why[reason]) }))
    .filter(({ count }) => count / total >= 0.0005)
    .toSorted((a, b) => b.count - a.count)
    .map(({ reason, count }) => `${percent(count / total)} ${reason}`)
  const parts = [
    ...(vectorized > 0 ? [`${percent(vectorized / total)} many rows at a time`] : []),
    ...(rows > 0 ? [`${percent(rows / total)} rows`] : []),
    ...(plain > 0 ? [`${percent(plain / total)} plain${why.length > 0 ? ` (${why.join(', ')})` : ''}`] : []),
  ]
  return `Paths, ${TITLES[name]}: ${parts.join(', ')}`
}

function comparisonOf(comparison: BenchComparison, table: typeof textTable): readonly string[] {
  const { equalCode, lines, isTooNoisy, gate } = comparison
  const row = (title: string, one: Comparison) => [
    title,
    `x ${one.ratio.value.toFixed(3)}`,
    interval(one.ratio, (value) => value.toFixed(3)),
    one.p.toFixed(3),
    one.verdict === 'too few rounds' ? `too few rounds (${FEWEST_ROUNDS} at least)` : one.verdict,
  ]
  const rows = lines.map((one) => row(TITLES[one.name], isTooNoisy ? { ...one, verdict: 'no difference' } : one))
  const equal = equalCode === undefined ? [] : [row('equal code, for comparison', equalCode)]
  return [
    `Compared with ${comparison.with}; above 1 this state is better; p for all lines together (Holm)`,
    '',
    ...table([['', 'ratio', '95 %', 'p', ''], ...rows, ...equal]),
    ...(isTooNoisy
      ? [
          'Equal code differed in these rounds: the machine is too noisy for a verdict. Run again, or with more --rounds',
        ]
      : []),
    ...(gate === undefined ? [] : [gateOf(gate)]),
  ]
}

function gateOf({ share, failed }: NonNullable<BenchComparison['gate']>): string {
  if (failed.length === 0) return `Gate passed: every line is within ${percent(share)}`
  return `Gate FAILED: significantly slower by more than ${percent(share)}: ${failed.map((name) => TITLES[name]).join('; ')}`
}

function interval({ low, high }: Estimate, write: (value: number) => string): string {
  return low === high ? 'one round' : `${write(low)} .. ${write(high)}`
}

function percent(share: number): string {
  return `${digits(share * 100)} %`
}

function textTable(rows: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = []
  for (const row of rows) for (const [i, cell] of row.entries()) widths[i] = Math.max(widths[i] ?? 0, cell.length)
  return rows.map((row) =>
    row
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join('  ')
      .trimEnd(),
  )
}

function markdownTable(rows: readonly (readonly string[])[]): readonly string[] {
  const [head = [], ...body] = rows.map((row) => `| ${row.join(' | ')} |`)
  return [String(head), `|${'---|'.repeat(rows[0]?.length ?? 0)}`, ...body]
}

interface Plot {
  title: string
  x: string
  y: string
  series: readonly PlotSeries[]
}

interface PlotSeries {
  title: string
  points: readonly { x: number; y: number }[]
  dashed: boolean
}

const WIDTH = 760
const HEIGHT = 440
const LEFT = 70
const RIGHT = 40
const TOP = 40
const BOTTOM = 130
const COLORS = ['#4c78a8', '#e45756', '#72b7b2', '#f58518', '#54a24b', '#b279a2']

/** Draws a log-log plot as SVG, so that curves of equal relative slope are parallel. */
function plotSvg({ title, x, y, series }: Plot): string {
  const points = series.flatMap((one) => one.points)
  const right = WIDTH - RIGHT
  const bottom = HEIGHT - BOTTOM
  const across = decadesOf(points.map((point) => point.x))
  const up = decadesOf(points.map((point) => point.y))
  const placeX = (value: number) => round(LEFT + share(value, across) * (right - LEFT))
  const placeY = (value: number) => round(bottom - share(value, up) * (bottom - TOP))

  const gridX = ticksOf(across).flatMap((value) => [
    line(placeX(value), TOP, placeX(value), bottom, '#ddd'),
    text(placeX(value), bottom + 18, value.toLocaleString('en'), 'middle'),
  ])
  const gridY = ticksOf(up).flatMap((value) => [
    line(LEFT, placeY(value), right, placeY(value), '#ddd'),
    text(LEFT - 8, placeY(value) + 4, value.toLocaleString('en'), 'end'),
  ])
  const curves = series.flatMap((one, i) => {
    const color = COLORS[i % COLORS.length] ?? '#000'
    const dashes = one.dashed ? ' stroke-dasharray="6 4"' : ''
    const path = one.points.map((point) => `${placeX(point.x)},${placeY(point.y)}`).join(' ')
    const legend = bottom + 58 + i * 18
    return [
      `<polyline points="${path}" fill="none" stroke="${color}" stroke-width="2"${dashes}/>`,
      ...one.points.map((point) => `<circle cx="${placeX(point.x)}" cy="${placeY(point.y)}" r="3" fill="${color}"/>`),
      `<line x1="${LEFT}" y1="${legend - 4}" x2="${LEFT + 30}" y2="${legend - 4}" stroke="${color}" stroke-width="2"${dashes}/>`,
      text(LEFT + 38, legend, one.title, 'start'),
    ]
  })
  const middle = round((TOP + bottom) / 2)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" font-family="sans-serif" font-size="12">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="#fff"/>`,
    `<text x="${LEFT}" y="22" font-size="14" font-weight="bold">${escapeMarkup(title)}</text>`,
    ...gridX,
    ...gridY,
    text((LEFT + right) / 2, bottom + 38, x, 'middle'),
    `<text x="18" y="${middle}" text-anchor="middle" transform="rotate(-90 18 ${middle})">${escapeMarkup(y)}</text>`,
    ...curves,
    '</svg>\n',
  ].join('\n')
}

interface Decades {
  from: number
  to: number
}

function decadesOf(values: readonly number[]): Decades {
  const from = Math.floor(Math.log10(Math.min(...values)))
  return { from, to: Math.max(from + 1, Math.ceil(Math.log10(Math.max(...values)))) }
}

function ticksOf({ from, to }: Decades): readonly number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => 10 ** (from + i))
}

function share(value: number, { from, to }: Decades): number {
  return (Math.log10(value) - from) / (to - from)
}

function line(x1: number, y1: number, x2: number, y2: number, color: string): string {
  return `<line x1="${x1}" y1="${y1}" x2="${x2}" y2="${y2}" stroke="${color}"/>`
}

function text(x: number, y: number, content: string, anchor: 'start' | 'middle' | 'end'): string {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}">${escapeMarkup(content)}</text>`
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}
