/** Checks timestamps of live messages against the clock of the host, and formulates rejections. */
import { msOf, otherUnitOf, unitName } from '#kernel'
import type { TimeBounds } from '../contract.ts'

/** the metric that stores a rejected timestamp */
export const CLAIMED_TIMESTAMP = 'claimedTimestamp'

export const NO_BOUNDS: TimeBounds = { ahead: Infinity, behind: Infinity, refuses: false }

export function isWithin(time: number, now: number, { ahead, behind }: TimeBounds): boolean {
  return time <= now + ahead && time >= now - behind
}

export function boundsProblem(time: number, now: number, bounds: TimeBounds): readonly [string, string] {
  const unit = otherUnitOf(time)
  const right = unit === undefined ? undefined : msOf(time, unit)
  const side =
    time > now
      ? `ahead of the clock of this host by more than ${shownSpan(bounds.ahead)}`
      : `behind the clock of this host by more than ${shownSpan(bounds.behind)}`
  return [
    `${new Date(time).toISOString()} is ${side}`,
    unit !== undefined && right !== undefined && isWithin(right, now, bounds)
      ? `${time} is in ${unitName(unit)}; send milliseconds: ${right}`
      : 'send the time of the measurement in epoch milliseconds or ISO 8601, or omit it',
  ]
}

const UNITS = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
] as const

function shownSpan(ms: number): string {
  const [width, unit] = UNITS.find(([size]) => ms >= size && ms % size === 0) ?? [1, 'ms']
  return `${ms / width} ${unit}`
}
