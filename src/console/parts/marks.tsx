/** Marks of states and severities: shapes that read the same without colour. */
import { now } from '../connection.ts'
import { zone } from '../settings.ts'
import { type AlarmLike, alarmStateText, holdOf, holdText } from '../words/alarms.ts'
import { timeText } from '../words/times.ts'

export type Match = 'match' | 'no match' | 'unknown'

/** A disc: filled on a match, hollow without, dashed when unknown. */
export function MatchShape({ match, x, y, r = 5 }: { match: Match; x: number; y: number; r?: number }) {
  if (match === 'unknown') {
    return (
      <g>
        <circle class="open" cx={x} cy={y} r={r} />
        <text class="query" x={x} y={y + 3}>
          ?
        </text>
      </g>
    )
  }
  return <circle class={match === 'match' ? 'on' : 'off'} cx={x} cy={y} r={match === 'match' ? r + 0.5 : r} />
}

export function MatchMark({ match }: { match: Match }) {
  return (
    <svg class="mark" width="14" height="14" viewBox="0 0 14 14" aria-hidden="true">
      <MatchShape match={match} x={7} y={7} />
    </svg>
  )
}

const SEVERITIES: Readonly<Record<string, readonly [number, string, number]>> = {
  CRITICAL: [1, 'M6.6 1.5h8.8l5.1 5.1v8.8l-5.1 5.1H6.6l-5.1-5.1V6.6Z', 15],
  MAJOR: [2, 'M11 1.5 21 20H1L11 1.5Z', 17],
  MINOR: [3, 'M11 20.5 1 2h20L11 20.5Z', 12.5],
  WARNING: [4, 'M11 1.5a9.5 9.5 0 1 1 0 19 9.5 9.5 0 0 1 0-19Z', 15],
}

/** A shape with the number of the severity; an outline when no action is needed. */
export function Severity({ of, isQuiet = false }: { of: string; isQuiet?: boolean }) {
  const [number, path, y] = SEVERITIES[of] ?? [4, SEVERITIES['WARNING']?.[1] ?? '', 15]
  const name = severityWord(of)
  return (
    <svg
      class={`severity ${isQuiet ? 'quiet' : of.toLowerCase()}`}
      width="22"
      height="22"
      viewBox="0 0 22 22"
      role="img"
      aria-label={name}
    >
      <title>{name}</title>
      <path d={path} />
      <text x="11" y={y}>
        {number}
      </text>
    </svg>
  )
}

export function severityWord(severity: string): string {
  return severity.charAt(0) + severity.slice(1).toLowerCase()
}

/** State of an alarm: disc filled while active, hollow when cleared; a ring until it is acknowledged; an hourglass. */
export function AlarmState({ alarm }: { alarm: AlarmLike }) {
  const hold = holdOf(alarm, now.value)
  if (hold !== undefined) {
    const until = hold.until && timeText(Date.parse(hold.until), zone.value, now.value)
    return (
      <span class="alarm-state">
        <svg class="icon" width="18" height="18" viewBox="0 0 18 18" aria-hidden="true">
          <path d="M5 3h8L9 9l4 6H5l4-6-4-6Z" />
        </svg>
        {holdText(hold, until)}
      </span>
    )
  }
  const { status, lifecycle } = alarm
  const isOver = status === 'CLEARED' || lifecycle === 'returned'
  return (
    <span class="alarm-state">
      <svg width="18" height="18" viewBox="0 0 18 18" aria-hidden="true">
        {status === 'ACTIVE' && <circle class="todo" cx="9" cy="9" r="7.5" />}
        <circle class={isOver ? 'hollow' : 'full'} cx="9" cy="9" r="4" />
      </svg>
      {alarmStateText(alarm)}
    </span>
  )
}
