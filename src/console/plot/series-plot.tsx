/** A plot of series over time by uPlot, with limits, gaps, bands of states and rows of markers on the same axis. */
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'
import { isDark, zone } from '../settings.ts'
import { clockText, timeText } from '../words/times.ts'
import { now } from '../connection.ts'
import type { Band } from './bands.ts'
import { role, SERIES_STYLES } from './theme.ts'

export interface PlottedSeries {
  readonly name: string
  readonly points: readonly (readonly [number, number])[]
}

export interface MarkerRow {
  readonly name: string
  readonly color: string
  readonly markers: readonly { readonly time: number; readonly isQuiet: boolean; readonly isGone?: boolean }[]
}

export interface BandRow {
  readonly name: string
  readonly bands: readonly Band[]
  readonly matches: readonly string[]
}

export interface SeriesPlotProps {
  readonly label: string
  readonly from: number
  readonly until: number
  readonly series: readonly PlottedSeries[]
  readonly limits?: readonly {
    readonly value: number
    readonly name: string
    readonly color: string
    readonly isDashed: boolean
  }[]
  readonly gaps?: readonly { readonly from: number; readonly until: number }[]
  readonly rows?: readonly MarkerRow[]
  readonly bands?: readonly BandRow[]
  readonly height?: number
  onZoom?(from: number, until: number): void
}

const ROW = 22

/** Aligns series on one axis; null where a series has no point, and in gaps, which no line bridges. */
function aligned({ series, gaps = [] }: SeriesPlotProps): uPlot.AlignedData {
  if (series.length === 1) {
    const own: readonly (readonly [number, number | null])[] = series[0]?.points ?? []
    const ends = gaps.map(({ from }) => [from + 1, null] as const)
    const points = ends.length === 0 ? own : [...own, ...ends].sort(([a], [b]) => a - b)
    return [points.map(([time]) => time / 1_000), points.map(([, value]) => value)]
  }
  return uPlot.join(
    series.map(({ points }) => [points.map(([time]) => time / 1_000), points.map(([, value]) => value)]),
  )
}

export function SeriesPlot(props: SeriesPlotProps) {
  const box = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | undefined>(undefined)
  const latest = useRef(props)
  latest.current = props
  const { series, rows = [], bands = [], height = 220, label } = props
  const shape = `${series.map(({ name }) => name).join('|')} ${rows.length} ${bands.length} ${height}`
  useEffect(() => {
    const { current } = box
    if (current === null) return undefined
    const made = new uPlot(optionsFor(latest, current.clientWidth), aligned(latest.current), current)
    plot.current = made
    const watch = new ResizeObserver(() => made.setSize({ width: current.clientWidth, height: made.height }))
    watch.observe(current)
    return () => {
      watch.disconnect()
      made.destroy()
      plot.current = undefined
    }
  }, [shape, isDark.value, zone.value])
  useEffect(() => {
    const { current } = plot
    current?.setData(aligned(props), false)
    current?.setScale('x', { min: props.from / 1_000, max: props.until / 1_000 })
    current?.redraw(false)
  }, [props.series, props.from, props.until, props.limits, props.rows, props.bands, props.gaps])
  return <div class="series-plot" ref={box} role="img" aria-label={label} />
}

interface Latest {
  readonly current: SeriesPlotProps
}

function optionsFor(latest: Latest, width: number): uPlot.Options {
  const { series, rows = [], bands = [], height = 220 } = latest.current
  const text = role('text-3')
  const line = role('line-soft')
  const below = (rows.length + bands.length) * ROW
  const grid = { stroke: line, width: 1 }
  const font = '11px system-ui, sans-serif'
  return {
    width,
    height: height + below,
    padding: [10, 14, 0, 0],
    legend: { show: series.length > 1, live: true },
    cursor: { drag: { x: true, y: false, setScale: false }, points: { size: 6 } },
    scales: { x: { time: true }, y: { range: (_, low, high) => rangeOf(latest.current, low, high) } },
    axes: [
      {
        stroke: text,
        grid,
        ticks: { show: false },
        font,
        size: 28 + below,
        gap: 6 + below,
        space: 84,
        values: (_, splits) =>
          splits.map((seconds) =>
            latest.current.until - latest.current.from > 172_800_000
              ? timeText(seconds * 1_000, zone.value, now.value)
              : clockText(seconds * 1_000, zone.value, latest.current.until - latest.current.from < 300_000),
          ),
      },
      { stroke: text, grid, ticks: { show: false }, font, size: below === 0 ? 52 : 84, gap: 6 },
    ],
    series: [
      {
        label: 'Time',
        value: (_, seconds) =>
          typeof seconds === 'number' ? timeText(seconds * 1_000, zone.value, now.value, true) : '–',
      },
      ...series.map(({ name }, index): uPlot.Series => {
        const { color, dash } = SERIES_STYLES[index % SERIES_STYLES.length] ?? { color: 'series', dash: [] }
        return {
          label: name,
          stroke: role(color),
          width: 1.6,
          dash: [...dash],
          spanGaps: series.length > 1,
          points: { show: false },
        }
      }),
    ],
    hooks: {
      drawClear: [(plot) => drawGaps(plot, latest.current)],
      draw: [(plot) => (drawLimits(plot, latest.current), drawRows(plot, latest.current))],
      setSelect: [
        (plot) => {
          const { left, width } = plot.select
          if (width < 4) return
          const [from, until] = [plot.posToVal(left, 'x') * 1_000, plot.posToVal(left + width, 'x') * 1_000]
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false)
          latest.current.onZoom?.(from, until)
        },
      ],
    },
  }
}

function rangeOf({ limits = [] }: SeriesPlotProps, low: number | null, high: number | null): [number, number] {
  const values = [...(low === null ? [] : [low]), ...(high === null ? [] : [high]), ...limits.map(({ value }) => value)]
  if (values.length === 0) return [0, 1]
  const [least, most] = [Math.min(...values), Math.max(...values)]
  const pad = (most - least || Math.abs(most) || 1) * 0.08
  return [least - pad, most + pad]
}

function drawGaps(plot: uPlot, { gaps = [] }: SeriesPlotProps): void {
  const { ctx, bbox } = plot
  const step = 7 * devicePixelRatio
  for (const gap of gaps) {
    const x1 = Math.max(bbox.left, plot.valToPos(gap.from / 1_000, 'x', true))
    const x2 = Math.min(bbox.left + bbox.width, plot.valToPos(gap.until / 1_000, 'x', true))
    if (x2 - x1 < 2) continue
    ctx.save()
    ctx.beginPath()
    ctx.rect(x1, bbox.top, x2 - x1, bbox.height)
    ctx.fillStyle = role('surface-sunk')
    ctx.fill()
    ctx.clip()
    ctx.strokeStyle = role('hatch')
    ctx.lineWidth = 1.5 * devicePixelRatio
    ctx.beginPath()
    for (let x = x1 - bbox.height; x < x2; x += step) {
      ctx.moveTo(x, bbox.top + bbox.height)
      ctx.lineTo(x + bbox.height, bbox.top)
    }
    ctx.stroke()
    ctx.restore()
  }
}

function drawLimits(plot: uPlot, { limits = [] }: SeriesPlotProps): void {
  const { ctx, bbox } = plot
  const ratio = devicePixelRatio
  for (const [index, { value, name, color, isDashed }] of limits.entries()) {
    const y = plot.valToPos(value, 'y', true)
    ctx.save()
    ctx.strokeStyle = role(color)
    ctx.lineWidth = (isDashed ? 1 : 2) * ratio
    ctx.setLineDash(isDashed ? [5 * ratio, 4 * ratio] : [])
    ctx.beginPath()
    ctx.moveTo(bbox.left, y)
    ctx.lineTo(bbox.left + bbox.width, y)
    ctx.stroke()
    ctx.font = `600 ${11 * ratio}px system-ui, sans-serif`
    ctx.textAlign = 'right'
    ctx.strokeStyle = role('surface')
    ctx.lineWidth = 3 * ratio
    ctx.setLineDash([])
    const at = [bbox.left + bbox.width - (4 + (index % 2) * 74) * ratio, y - 4 * ratio] as const
    ctx.strokeText(name, ...at)
    ctx.fillStyle = role(color)
    ctx.fillText(name, ...at)
    ctx.restore()
  }
}

function drawRows(plot: uPlot, { bands = [], rows = [] }: SeriesPlotProps): void {
  const { ctx, bbox } = plot
  const ratio = devicePixelRatio
  const right = bbox.left + bbox.width
  const yOf = (index: number): number => bbox.top + bbox.height + (index * ROW + ROW / 2 + 4) * ratio
  const x = (time: number): number => plot.valToPos(time / 1_000, 'x', true)
  ctx.save()
  ctx.font = `${11 * ratio}px ui-monospace, monospace`
  ctx.textBaseline = 'middle'
  for (const [index, { name }] of [...bands, ...rows].entries()) {
    ctx.fillStyle = role('text-2')
    ctx.textAlign = 'left'
    ctx.fillText(name.length > 12 ? `${name.slice(0, 11)}…` : name, 0, yOf(index))
  }
  for (const [index, row] of bands.entries()) {
    for (const { from, until, state } of row.bands) {
      const [x1, x2] = [Math.max(bbox.left, x(from)), Math.min(right, x(until))]
      if (x2 <= x1) continue
      const isMatch = state !== null && row.matches.includes(state)
      ctx.fillStyle = role(state === null ? 'unknown-soft' : isMatch ? 'true' : 'false-soft')
      ctx.strokeStyle = role(state === null ? 'unknown' : isMatch ? 'true' : 'line-control')
      ctx.lineWidth = ratio
      ctx.setLineDash(state === null ? [3 * ratio, 2 * ratio] : [])
      ctx.beginPath()
      ctx.roundRect(x1 + ratio / 2, yOf(index) - 8 * ratio, Math.max(ratio, x2 - x1 - ratio), 16 * ratio, 2 * ratio)
      ctx.fill()
      ctx.stroke()
      const text = state ?? '?'
      if (x2 - x1 < (text.length * 7 + 10) * ratio) continue
      ctx.fillStyle = role(isMatch ? 'on-true' : 'text-2')
      ctx.fillText(text, x1 + 6 * ratio, yOf(index))
    }
  }
  ctx.setLineDash([])
  for (const [index, { color, markers }] of rows.entries()) {
    const y = yOf(bands.length + index)
    ctx.strokeStyle = role('line')
    ctx.lineWidth = ratio
    ctx.beginPath()
    ctx.moveTo(bbox.left, y)
    ctx.lineTo(right, y)
    ctx.stroke()
    for (const { time, isQuiet, isGone = false } of markers) {
      const size = (isQuiet ? -6 : 6) * ratio
      const at = x(time)
      if (at < bbox.left - 1 || at > right + 1) continue
      ctx.beginPath()
      ctx.moveTo(at - 6 * ratio, y + size)
      ctx.lineTo(at + 6 * ratio, y + size)
      ctx.lineTo(at, y - size)
      ctx.closePath()
      ctx.fillStyle = isQuiet || isGone ? role('surface') : role(color)
      ctx.strokeStyle = role(color)
      ctx.lineWidth = 1.5 * ratio
      ctx.setLineDash(isGone ? [2 * ratio, 2 * ratio] : [])
      ctx.fill()
      ctx.stroke()
      ctx.setLineDash([])
    }
  }
  ctx.restore()
}
