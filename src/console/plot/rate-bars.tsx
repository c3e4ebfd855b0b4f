/** Counts over time as bars, with a limit. */
import { clockText } from '../words/times.ts'

export interface RateBarsProps {
  readonly counts: readonly number[]
  readonly until: number
  /** ms */
  readonly slot: number
  readonly zone: string
  readonly limit: number
}

const WIDTH = 318
const HEIGHT = 96
const LEFT = 20
const TOP = 12

export function RateBars({ counts, until, slot, zone, limit }: RateBarsProps) {
  const high = Math.max(limit * 1.15, ...counts)
  const y = (count: number): number => TOP + HEIGHT - (count / high) * HEIGHT
  const step = (WIDTH - LEFT) / counts.length
  const peak = Math.max(...counts)
  const label = `Alarms in each ${slot / 60_000} minutes; at most ${peak}, and ${peak > limit ? 'over' : 'within'} the limit of ${limit}`
  const marks = [0, Math.floor(counts.length / 2), counts.length]
  return (
    <svg class="plot still" viewBox={`0 0 ${WIDTH} ${HEIGHT + 32}`} role="img" aria-label={label}>
      <text class="tick" x={LEFT - 6} y={y(limit) + 4} text-anchor="end">
        {limit}
      </text>
      <text class="tick" x={LEFT - 6} y={y(0) + 2} text-anchor="end">
        0
      </text>
      <line class="limit" x1={LEFT} x2={WIDTH} y1={y(limit)} y2={y(limit)} />
      <text class="limit-text" x={LEFT + 4} y={y(limit) - 4}>
        flood: more than {limit}
      </text>
      <line class="grid" x1={LEFT} x2={WIDTH} y1={y(0)} y2={y(0)} />
      {counts.map((count, index) => (
        <rect
          key={index}
          class={`bar${count > limit ? ' over' : ''}`}
          x={LEFT + index * step + 1}
          y={Math.min(y(count), y(0) - 1)}
          width={step - 2}
          height={Math.max(1, y(0) - y(count))}
        />
      ))}
      {marks.map((mark) => (
        <text
          key={mark}
          class="tick"
          x={LEFT + mark * step}
          y={HEIGHT + 28}
          text-anchor={mark === 0 ? 'start' : mark === counts.length ? 'end' : 'middle'}
        >
          {clockText(until - (counts.length - mark) * slot, zone)}
        </text>
      ))}
    </svg>
  )
}
