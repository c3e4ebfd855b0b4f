/** Draws the data of one resource as SVG, with thresholds, gaps and firings, and a lane of firings per version. */
import { escapeMarkup } from '#kernel'
import { formatTime } from '../time-text.ts'
import { visible } from '../visible.ts'
import type { Zone } from '../zone.ts'
import type { PlottedResource, Report, ReportedFiring, Version } from './report.ts'

const WIDTH = 1_100
export const LEFT = 68
export const RIGHT = 20
const TOP = 22
const PLOT = WIDTH - LEFT - RIGHT
const AXIS = 22
/** distance of two marks, in pixels, below which they are one */
const APART = 4
const MAX_NAMED = 3
const MAX_LABELS = 6
/** height of a label in pixels */
const LABEL = 14

export function share(pixels: number): string {
  return `${round((100 * pixels) / WIDTH)}%`
}

export function chartOf(plotted: PlottedResource, report: Report): string {
  const { from, until, zone } = report
  const placeX = (time: number): number => LEFT + (PLOT * (time - from)) / Math.max(1, until - from)
  const times = timeTicks(from, until, zone)
  const fired = report.firings
    .map((firing, number) => ({ ...firing, number }))
    .filter(({ resource }) => resource === undefined || resource === plotted.resource)
  const columns = (version: Version): readonly Mark[] =>
    merged(
      fired
        .filter((firing) => firing.version === 'both' || firing.version === version)
        .map((firing) => ({ ...firing, time: version === 'old' ? (firing.moved?.from ?? firing.time) : firing.time }))
        .toSorted((a, b) => a.time - b.time),
      placeX,
    )
  const isDiff = report.names.old !== undefined
  const [olds, news] = [isDiff ? columns('old') : [], columns('new')]
  const guides = [...olds.map((mark) => guide(mark, 'old')), ...news.map((mark) => guide(mark, 'new'))]
  const panels = plotted.metrics.map((metric) => panel(metric, { plotted, report, placeX, times, guides }))
  const lanes = isDiff
    ? [lane('old', olds, report), lane('new', news, report)]
    : news.length > 0
      ? [lane('fired', news, report)]
      : []
  const none = plotted.metrics.length === 0 ? '<p class="none">no numbers to plot</p>' : ''
  return `<figure><figcaption>${shown(plotted.resource)}</figcaption>${none}${panels.join('')}${lanes.join('')}</figure>`
}

interface Mark {
  readonly x: number
  readonly firings: readonly (ReportedFiring & { readonly number: number })[]
}

function merged(firings: Mark['firings'], placeX: (time: number) => number): readonly Mark[] {
  const marks: { x: number; firings: Mark['firings'][number][] }[] = []
  for (const firing of firings) {
    const x = placeX(firing.time)
    const last = marks.at(-1)
    if (last !== undefined && x - last.x < APART) last.firings.push(firing)
    else marks.push({ x, firings: [firing] })
  }
  return marks
}

function isEqual({ firings }: Mark): boolean {
  return firings.every(({ version, moved }) => version === 'both' && moved === undefined)
}

interface Drawing {
  readonly plotted: PlottedResource
  readonly report: Report
  readonly placeX: (time: number) => number
  readonly times: readonly Tick[]
  readonly guides: readonly string[]
}

function panel({ name, points }: PlottedResource['metrics'][number], drawing: Drawing): string {
  const { plotted, report, placeX, times, guides } = drawing
  const height = plotted.metrics.length === 1 ? 260 : 170
  const bottom = height - AXIS
  const thresholds = report.thresholds.filter(({ metric }) => metric === name)
  const ticks = valueTicks([...points, ...thresholds].map(({ value }) => value))
  const [low = 0, high = 1] = [ticks[0]?.at, ticks.at(-1)?.at]
  const placeY = (value: number): number => round(bottom - ((bottom - TOP) * (value - low)) / (high - low))
  const right = WIDTH - RIGHT
  return `<svg viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${shown(`${name} of ${plotted.resource}`)}">${[
    ...ticks.map(({ at, text }) => {
      const y = placeY(at)
      return `<path class="grid" d="M${LEFT} ${y}H${right}"/><text class="axis" x="${LEFT - 8}" y="${y + 4}" text-anchor="end">${text}</text>`
    }),
    ...times.map(({ at, text }) => {
      const x = round(placeX(at))
      const anchor = x > right - 40 ? 'end' : x < LEFT + 20 ? 'start' : 'middle'
      return `<path class="grid" d="M${x} ${TOP}V${bottom}"/><text class="axis" x="${x}" y="${height - 5}" text-anchor="${anchor}">${text}</text>`
    }),
    ...plotted.gaps.map(({ from, until }) => {
      const [x, end] = [round(placeX(from)), round(placeX(until))]
      const title = `no data from ${clockTime(from, report.zone)} until ${clockTime(until, report.zone)}`
      return `<rect class="gap" x="${x}" y="${TOP}" width="${round(end - x)}" height="${bottom - TOP}"><title>${title}</title></rect>`
    }),
    ...guides.map((path) => path.replace('V', `${TOP}V${bottom}`)),
    ...thresholds.map(({ value, name: label, version }) => {
      const title = `<title>${shown(label)} ${value}</title>`
      return `<path class="limit ${version}" d="M${LEFT} ${placeY(value)}H${right}">${title}</path>`
    }),
    `<path class="data" d="${pathOf(points, plotted.gaps, (time) => round(placeX(time)), placeY)}"/>`,
    ...labelsOf(thresholds, placeY),
    `<text class="metric" x="${LEFT}" y="14">${shown(name)}</text>`,
  ].join('')}</svg>`
}

/** Labels of limits that are close to each other stand side by side. */
function labelsOf(thresholds: Report['thresholds'], placeY: (value: number) => number): readonly string[] {
  if (thresholds.length > MAX_LABELS) return []
  const ends = { old: { y: -LABEL, at: 0 }, new: { y: -LABEL, at: 0 } }
  return thresholds
    .toSorted((a, b) => b.value - a.value)
    .map(({ value, name, version }) => {
      const text = shown(`${name} ${value}`)
      const line = placeY(value)
      const y = line < TOP + LABEL ? line + LABEL : line - 4
      const end = ends[version]
      end.at = y - end.y < LABEL ? end.at : 4
      const place = version === 'old' ? `x="${LEFT + end.at}"` : `x="${WIDTH - RIGHT - end.at}" text-anchor="end"`
      end.y = y
      end.at += 16 + 6.5 * text.length
      return `<text class="limit ${version}" ${place} y="${y}">${text}</text>`
    })
}

function pathOf(
  points: PlottedResource['metrics'][number]['points'],
  gaps: PlottedResource['gaps'],
  placeX: (time: number) => number,
  placeY: (value: number) => number,
): string {
  let next = 0
  return points
    .map(({ time, value }, i) => {
      while ((gaps[next]?.until ?? Number.POSITIVE_INFINITY) < time) next++
      const before = points[i - 1]?.time
      const gap = gaps[next]
      const isApart = before === undefined || (gap !== undefined && before <= gap.from && time >= gap.until)
      // a line of no length, with round ends, shows a single point
      return `${isApart ? 'M' : 'L'}${placeX(time)} ${placeY(value)}${isApart ? 'h0' : ''}`
    })
    .join('')
}

function guide(mark: Mark, version: Version): string {
  return `<path class="guide ${version}${isEqual(mark) ? ' equal' : ''}" d="M${round(mark.x)} V"/>`
}

function lane(name: Version | 'fired', marks: readonly Mark[], { zone, names }: Report): string {
  const isDiff = names.old !== undefined
  const items = marks.map((mark) => {
    const [first] = mark.firings
    const side = mark.x > WIDTH / 2 ? ' left' : ''
    const equal = isDiff && isEqual(mark) ? ' equal' : ''
    const texts = mark.firings.slice(0, MAX_NAMED).map((firing) => {
      const moved = firing.moved === undefined ? '' : `, ${firing.moved.by} in new`
      return `<b>${clockTime(firing.time, zone)}${moved}</b> ${shown(firing.node)}\n${firing.why.map(shown).join('\n') || shown(firing.cause)}`
    })
    if (mark.firings.length > MAX_NAMED) texts.push(`and ${mark.firings.length - MAX_NAMED} more`)
    const left = round((100 * (mark.x - LEFT)) / PLOT)
    return `<a class="mark ${name}${side}${equal}" href="#f${first?.number ?? 0}" style="left:${left}%"><span class="card">${texts.join('\n')}</span></a>`
  })
  return `<div class="lane"><i>${name}</i>${items.join('')}</div>`
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

/** As a clock in `zone` shows it, in the form that people read. */
export function clockTime(time: number, zone: Zone): string {
  return formatTime(time, zone).replace('T', ' ')
}

export function shown(text: string): string {
  return escapeMarkup(visible(text))
}

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
const STEPS = [
  ...[1, 5, 15, 30].map((count) => count * SECOND),
  ...[1, 5, 15, 30].map((count) => count * MINUTE),
  ...[1, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 7, 14, 30, 90, 365].map((count) => count * DAY),
]
const MAX_TIMES = 9
const VALUES = 6

interface Tick {
  readonly at: number
  readonly text: string
}

/** Times are epoch ms; ticks are at round readings of a clock in the zone. */
function timeTicks(from: number, until: number, zone: Zone): readonly Tick[] {
  const step =
    STEPS.find((one) => (until - from) / one <= MAX_TIMES) ?? Math.ceil((until - from) / MAX_TIMES / DAY) * DAY
  const ticks: Tick[] = []
  const last = zone.readingAt(until)
  for (let reading = Math.ceil(zone.readingAt(from) / step) * step; reading <= last; reading += step) {
    const [at] = zone.instantsOf(reading)
    if (at !== undefined && at >= from && at <= until) ticks.push({ at, text: readingText(reading, step) })
  }
  return ticks
}

function readingText(reading: number, step: number): string {
  const text = new Date(reading).toISOString()
  if (step >= DAY || reading % DAY === 0) return text.slice(0, 10)
  return text.slice(11, step < MINUTE ? 19 : 16)
}

/** Returns the ticks of some values; the first and the last are the ends of the axis. */
function valueTicks(values: readonly number[]): readonly Tick[] {
  let low = Math.min(...values)
  let high = Math.max(...values)
  if (!(high > low)) [low, high] = [low - Math.max(1, Math.abs(low) / 10), low + Math.max(1, Math.abs(low) / 10)]
  const raw = (high - low) / VALUES
  const power = 10 ** Math.floor(Math.log10(raw))
  const fine = power * ([1, 2, 5, 10].find((one) => one * power >= raw) ?? 10)
  const step = values.every((value) => Number.isInteger(value)) ? Math.max(1, fine) : fine
  const digits = Math.max(0, Math.min(20, -Math.floor(Math.log10(step))))
  const first = Math.floor(low / step)
  const count = Math.ceil(high / step) - first
  return Array.from({ length: count + 1 }, (_, i) => {
    const at = (first + i) * step
    return { at, text: at.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits }) }
  })
}
