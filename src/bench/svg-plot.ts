/** Draws a log-log plot as SVG, so that curves of equal relative slope are parallel. */
import { escapeMarkup } from '#kernel'

export interface Plot {
  title: string
  x: string
  y: string
  series: readonly PlotSeries[]
}

export interface PlotSeries {
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

export function plotSvg({ title, x, y, series }: Plot): string {
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
