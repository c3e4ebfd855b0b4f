/** Unfinished work at the end of a simulation. */
import type { SavedState } from '#core/spi'
import { counted } from '../numbers.ts'
import { formatTime } from '../time-text.ts'
import type { Zone } from '../zone.ts'

const MAX_NAMED = 5

/** Executions that were unfinished when the clock stopped, with the time at which they would continue, if any. */
export function waitingLines(state: SavedState, zone: Zone): string[] {
  const waits: { node: string; until: number | undefined }[] = []
  for (const { node, wakeAt } of state.executing ?? []) waits.push({ node, until: wakeAt })
  for (const [node, { follow }] of Object.entries(state.sensors))
    if (follow !== undefined) waits.push({ node, until: follow.at })
  if (waits.length === 0) return []
  const named = waits
    .slice(0, MAX_NAMED)
    .map(({ node, until }) => (until === undefined ? node : `${node} until ${formatTime(until, zone)}`))
  if (waits.length > MAX_NAMED) named.push(`and ${waits.length - MAX_NAMED} more`)
  const last = Math.max(...waits.map(({ until = Number.NEGATIVE_INFINITY }) => until))
  const hint = Number.isFinite(last) ? `; --until ${formatTime(last, zone)} lets the clock run that far` : ''
  return [`${counted(waits.length, 'execution')} still at work at the end: ${named.join(', ')}${hint}`]
}
