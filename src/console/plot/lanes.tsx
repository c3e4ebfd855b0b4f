/** One time axis with a plot of a metric, the states of nodes as bands, firings, and the instant that is shown. */
import { useEffect, useRef } from 'preact/hooks'
import { useSignal } from '@preact/signals'
import { cut, valueText } from '../words/numbers.ts'
import { clockText, timeText } from '../words/times.ts'
import { type Band, gapsOf, ticksOf, timeTicksOf } from './bands.ts'

export interface Lane {
  readonly name: string
  readonly bands: readonly Band[]
  /** states that are drawn filled */
  readonly matches: readonly string[]
}

export interface Firing {
  readonly time: number
  readonly node: string
  /** drawn as a hollow triangle, such as an all-clear */
  readonly isQuiet: boolean
}

export interface LanesProps {
  readonly from: number
  readonly until: number
  readonly zone: string
  readonly series: readonly (readonly [number, number])[]
  readonly metric: string
  readonly limit?: number | undefined
  readonly lanes: readonly Lane[]
  /** until where the bands are known */
  readonly knownUntil: number
  readonly firings: readonly Firing[]
  /** when held triggers may fire again */
  readonly next?: number | undefined
  readonly at: number | null
  onPick(time: number): void
}

const NAMES = 104
const TOP = 16
const LANE = 21
const AXIS = 24
const RIGHT = 12
/** Half the width of a time on the axis */
const HALF_TICK = 18

export function Lanes({
  from,
  until,
  zone,
  series,
  metric,
  limit,
  lanes,
  knownUntil,
  firings,
  next,
  at,
  onPick,
}: LanesProps) {
  const box = useRef<HTMLDivElement>(null)
  const size = useSignal(640)
  useEffect(() => {
    const { current } = box
    if (current === null) return undefined
    const watch = new ResizeObserver(([entry]) => (size.value = Math.round(entry?.contentRect.width ?? 640)))
    watch.observe(current)
    return () => watch.disconnect()
  }, [])
  const { value: width } = size
  const isNarrow = width < 480
  const left = isNarrow ? 40 : NAMES
  const plotHeight = series.length === 0 ? 0 : 96
  const laneTop = TOP + plotHeight + (plotHeight === 0 ? 0 : 8)
  const rows = lanes.length + 1
  const height = laneTop + rows * LANE * (isNarrow ? 1.6 : 1) + AXIS
  const x = (time: number): number => left + ((time - from) / (until - from)) * (width - left - RIGHT)
  const values = series.map(([, value]) => value)
  const low = Math.min(...values, limit ?? Infinity)
  const high = Math.max(...values, limit ?? -Infinity)
  const pad = (high - low || 1) * 0.08
  const y = (value: number): number => TOP + plotHeight - ((value - low + pad) / (high - low + 2 * pad)) * plotHeight
  const laneHeight = isNarrow ? LANE * 1.6 : LANE
  const laneY = (index: number): number => laneTop + index * laneHeight + (isNarrow ? 14 : 2)
  const gaps = gapsOf(series.map(([time]) => time))
  const pick = ({ clientX, currentTarget, buttons, type }: PointerEvent): void => {
    if (type === 'pointermove' && buttons === 0) return
    const edge = (currentTarget as Element).getBoundingClientRect()
    const time = from + ((clientX - edge.left - left) / (width - left - RIGHT)) * (until - from)
    if (time >= from - 1) onPick(Math.min(until, Math.max(from, time)))
  }
  const firingY = laneY(lanes.length) + 9
  return (
    <div class="plot-frame" ref={box}>
      <svg
        class="plot"
        width={width}
        height={height}
        role="img"
        aria-label={`${metric === '' ? 'States' : `${metric} and states`} of each node from ${timeText(from, zone, until)} to ${clockText(until, zone)}`}
        onPointerDown={pick}
        onPointerMove={pick}
      >
        {timeTicksOf(from, until, Math.max(2, Math.floor((width - left) / 84))).map((time) => (
          <g key={time}>
            <line class="grid" x1={x(time)} x2={x(time)} y1={TOP - 6} y2={height - AXIS + 2} />
            <text
              class="tick"
              x={x(time) > width - HALF_TICK ? width : x(time)}
              y={height - 7}
              text-anchor={x(time) > width - HALF_TICK ? 'end' : 'middle'}
            >
              {clockText(time, zone, until - from < 300_000)}
            </text>
          </g>
        ))}
        {plotHeight > 0 && (
          <>
            {gaps.map((gap) => (
              <Hatch key={gap.from} x1={x(Math.max(from, gap.from))} x2={x(gap.until)} y={TOP} height={plotHeight} />
            ))}
            {ticksOf(low - pad, high + pad, 4).map((value) => (
              <text key={value} class="tick" x={left - 6} y={y(value) + 4} text-anchor="end">
                {valueText(value)}
              </text>
            ))}
            {!isNarrow && (
              <text class="lane-name" x={0} y={TOP - 2}>
                {cut(metric, 20)}
              </text>
            )}
            {limit !== undefined && (
              <>
                <line class="limit" x1={left} x2={width - RIGHT} y1={y(limit)} y2={y(limit)} />
                <text class="limit-text" x={left + 4} y={y(limit) - 4}>
                  limit {valueText(limit)}
                </text>
              </>
            )}
            {linesOf(series, gaps).map((line) => (
              <polyline
                key={line[0]?.[0]}
                class="series"
                points={line.map(([time, value]) => `${x(time).toFixed(1)},${y(value).toFixed(1)}`).join(' ')}
              />
            ))}
          </>
        )}
        {lanes.map(({ name, bands, matches }, index) => (
          <g key={name}>
            <text class="lane-name" x={0} y={isNarrow ? laneY(index) - 2 : laneY(index) + 13}>
              {cut(name, isNarrow ? 40 : 14)}
            </text>
            {bands.map((band) => (
              <BandBox
                key={band.from}
                band={band}
                isMatch={band.state !== null && matches.includes(band.state)}
                x1={x(Math.max(from, band.from))}
                x2={x(Math.min(until, band.until))}
                y={laneY(index)}
              />
            ))}
            {knownUntil < until && (
              <Hatch x1={x(Math.max(from, knownUntil))} x2={x(until)} y={laneY(index)} height={16} />
            )}
          </g>
        ))}
        <text class="lane-name" x={0} y={isNarrow ? laneY(lanes.length) - 2 : firingY + 4}>
          fired
        </text>
        {firings.map(({ time, node, isQuiet }) => (
          <path
            key={`${time} ${node}`}
            class={`firing${isQuiet ? ' quiet' : ''}`}
            d={isQuiet ? 'M-5-5h10L0 5Z' : 'M-5 5h10L0-5Z'}
            transform={`translate(${x(time)} ${firingY})`}
          >
            <title>{`${node} fired at ${timeText(time, zone, until, true)}`}</title>
          </path>
        ))}
        {next !== undefined && next < until && (
          <path class="firing next" d="M-5 5h10L0-5Z" transform={`translate(${x(next)} ${firingY})`} />
        )}
        {at !== null && (
          <g class="cursor">
            <rect class="later" x={x(at)} y={0} width={Math.max(0, width - x(at))} height={height - AXIS} />
            <line x1={x(at)} x2={x(at)} y1={TOP - 8} y2={height - AXIS + 4} />
            <circle cx={x(at)} cy={TOP - 8} r={4.5} />
          </g>
        )}
      </svg>
    </div>
  )
}

function BandBox({
  band,
  isMatch,
  x1,
  x2,
  y,
}: {
  readonly band: Band
  readonly isMatch: boolean
  readonly x1: number
  readonly x2: number
  readonly y: number
}) {
  const width = x2 - x1
  if (width <= 0) return null
  const text = band.state ?? '?'
  return (
    <g>
      <rect
        class={`band ${band.state === null ? 'unknown' : isMatch ? 'match' : 'none'}`}
        x={x1 + 0.5}
        y={y + 0.5}
        width={Math.max(1, width - 1)}
        height={15}
        rx={2}
      />
      {width > text.length * 7 + 8 && (
        <text class={`band-text${isMatch ? ' match' : ''}`} x={x1 + 6} y={y + 12}>
          {text}
        </text>
      )}
    </g>
  )
}

/** Strokes instead of a pattern: a pattern needs an address within the page. */
function Hatch({
  x1,
  x2,
  y,
  height,
}: {
  readonly x1: number
  readonly x2: number
  readonly y: number
  readonly height: number
}) {
  const width = x2 - x1
  if (width < 2) return null
  const step = Math.max(6, width / 60)
  const strokes = Array.from({ length: Math.ceil((width + height) / step) }, (_, index) => {
    const start = x1 + index * step
    const [a, b] = [Math.min(start, x2), Math.max(start - height, x1)]
    return `M${a} ${y + start - a}L${b} ${y + start - b}`
  })
  return (
    <g class="hatch">
      <rect x={x1} y={y} width={width} height={height} />
      <path d={strokes.join('')} />
    </g>
  )
}

/** Splits a series at its gaps: a gap is never bridged by a line. */
function linesOf(series: readonly (readonly [number, number])[], gaps: readonly { readonly from: number }[]) {
  const starts = new Set(gaps.map(({ from }) => from))
  const lines: (readonly [number, number])[][] = [[]]
  for (const point of series) {
    lines.at(-1)?.push(point)
    if (starts.has(point[0])) lines.push([])
  }
  return lines.filter((line) => line.length > 0)
}
